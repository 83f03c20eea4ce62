// Who is woken by what. An alert's description names its runbook, a section of docs/provision.md.

import { Names, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

@description('Name of the queue.')
param queueName string

@description('Percent of messages that may be duplicates before someone is told.')
param duplicateRateThreshold int

resource namespace 'Microsoft.ServiceBus/namespaces@2026-01-01' existing = {
  name: names.serviceBus
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2026-03-15' existing = {
  name: names.cosmos
}

resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' existing = {
  name: names.workspace
}

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' existing = {
  name: names.actionGroup
}

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' existing = {
  name: names.workbook
}

var logAlerts = [
  {
    name: 'mismatch'
    text: 'A message claims a known identity with another content.'
    severity: 1
    query: loadTextContent('../kql/mismatch.kql')
    measure: 'Mismatches'
    aggregation: 'Total'
    dimensions: ['Consumer']
    threshold: 0
    window: 'PT5M'
    frequency: 'PT5M'
  }
  {
    name: 'misconfigured'
    text: 'A role, a container or a partition key path is wrong; no retry mends it.'
    severity: 1
    query: loadTextContent('../kql/misconfigured.kql')
    measure: 'Deliveries'
    aggregation: 'Total'
    dimensions: ['Consumer', 'Cause']
    threshold: 0
    window: 'PT5M'
    frequency: 'PT5M'
  }
  {
    name: 'circuit-opened'
    text: 'The store cannot be used and the intake has stopped.'
    severity: 1
    query: loadTextContent('../kql/circuit-opened.kql')
    measure: 'Openings'
    aggregation: 'Total'
    dimensions: ['Container', 'Cause']
    threshold: 0
    window: 'PT5M'
    frequency: 'PT5M'
  }
  {
    name: 'dead-lettered'
    text: 'The consumer dead-lettered a message.'
    severity: 2
    query: loadTextContent('../kql/dead-lettered.kql')
    measure: 'DeadLetters'
    aggregation: 'Total'
    dimensions: ['Consumer', 'Reason']
    threshold: 0
    window: 'PT5M'
    frequency: 'PT5M'
  }
  {
    name: 'rejected'
    text: 'A sender keeps sending what can never be applied.'
    severity: 2
    query: loadTextContent('../kql/rejected.kql')
    measure: 'Rejected'
    aggregation: 'Total'
    dimensions: ['Consumer', 'Cause']
    threshold: 10
    window: 'PT15M'
    frequency: 'PT5M'
  }
  {
    name: 'failed'
    text: 'A handler has a bug.'
    severity: 2
    query: loadTextContent('../kql/failed.kql')
    measure: 'Failures'
    aggregation: 'Total'
    dimensions: ['Consumer', 'Cause']
    threshold: 0
    window: 'PT5M'
    frequency: 'PT5M'
  }
  {
    name: 'duplicate-rate'
    text: 'Much of the work is done twice.'
    severity: 3
    query: loadTextContent('../kql/duplicate-rate.kql')
    measure: 'DuplicateRatePercent'
    aggregation: 'Maximum'
    dimensions: ['Consumer']
    threshold: duplicateRateThreshold
    window: 'PT30M'
    frequency: 'PT15M'
  }
]

var ofQueue = [{ name: 'EntityName', operator: 'Include', values: [queueName] }]
var deadLetters = [
  {
    metric: 'DeadletteredMessages'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 0
    dimensions: ofQueue
  }
]
var throttledRequests = [{ name: 'StatusCode', operator: 'Include', values: ['429'] }]

var metricAlerts = [
  {
    name: 'dead-letters'
    text: 'Messages lie in the dead-letter queue.'
    severity: 1
    scope: namespace.id
    source: namespace.type
    window: 'PT5M'
    frequency: 'PT1M'
    resolves: true
    criteria: deadLetters
  }
  {
    // The count goes to no log, and no rule compares it with an earlier one: this one repeats itself.
    name: 'dead-letters-remain'
    text: 'Messages still lie in the dead-letter queue, perhaps more than before.'
    severity: 2
    scope: namespace.id
    source: namespace.type
    window: 'PT1H'
    frequency: 'PT1H'
    resolves: false
    criteria: deadLetters
  }
  {
    name: 'backlog-stalls'
    text: 'Messages wait, and none is completed.'
    severity: 1
    scope: namespace.id
    source: namespace.type
    window: 'PT15M'
    frequency: 'PT5M'
    resolves: true
    criteria: [
      { metric: 'ActiveMessages', aggregation: 'Minimum', operator: 'GreaterThan', threshold: 0, dimensions: ofQueue }
      {
        metric: 'CompleteMessage'
        aggregation: 'Total'
        operator: 'LessThanOrEqual'
        threshold: 0
        dimensions: ofQueue
      }
    ]
  }
  {
    name: 'broker-throttled'
    text: 'Service Bus throttles. While it does, its count of dead letters reads 0.'
    severity: 2
    scope: namespace.id
    source: namespace.type
    window: 'PT5M'
    frequency: 'PT1M'
    resolves: true
    criteria: [
      { metric: 'ThrottledRequests', aggregation: 'Total', operator: 'GreaterThan', threshold: 0, dimensions: [] }
    ]
  }
  {
    name: 'store-throttled'
    text: 'Cosmos DB answers 429 more often than retries should have to mend.'
    severity: 2
    scope: account.id
    source: account.type
    window: 'PT5M'
    frequency: 'PT1M'
    resolves: true
    criteria: [
      {
        metric: 'TotalRequests'
        aggregation: 'Count'
        operator: 'GreaterThan'
        threshold: 100
        dimensions: throttledRequests
      }
    ]
  }
]

func described(text string, name string) string => '${text} Runbook: docs/provision.md#${name}'

resource logRules 'Microsoft.Insights/scheduledQueryRules@2026-03-01' = [
  for alert in logAlerts: {
    name: '${alert.name}-${names.suffix}'
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: alert.name
      description: described(alert.text, alert.name)
      severity: alert.severity
      enabled: true
      scopes: [workspace.id]
      evaluationFrequency: alert.frequency
      windowSize: alert.window
      // What happened does not heal because it does not happen again.
      autoMitigate: false
      muteActionsDuration: 'PT1H'
      criteria: {
        allOf: [
          {
            query: alert.query
            metricMeasureColumn: alert.measure
            timeAggregation: alert.aggregation
            operator: 'GreaterThan'
            threshold: alert.threshold
            dimensions: map(alert.dimensions, name => { name: name, operator: 'Include', values: ['*'] })
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
          }
        ]
      }
      actions: {
        actionGroups: [actionGroup.id]
        customProperties: { workbook: workbook.id }
      }
    }
  }
]

resource metricRules 'Microsoft.Insights/metricAlerts@2026-01-01' = [
  for alert in metricAlerts: {
    name: '${alert.name}-${names.suffix}'
    location: 'global'
    tags: tags
    properties: {
      description: described(alert.text, alert.name)
      severity: alert.severity
      enabled: true
      scopes: [alert.scope]
      evaluationFrequency: alert.frequency
      windowSize: alert.window
      autoMitigate: alert.resolves
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: map(alert.criteria, criterion => {
          criterionType: 'StaticThresholdCriterion'
          name: criterion.metric
          metricNamespace: alert.source
          metricName: criterion.metric
          timeAggregation: criterion.aggregation
          operator: criterion.operator
          threshold: criterion.threshold
          dimensions: criterion.dimensions
        })
      }
      actions: [
        {
          actionGroupId: actionGroup.id
          webHookProperties: { workbook: workbook.id }
        }
      ]
    }
  }
]
