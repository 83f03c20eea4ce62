// The namespace and its queue. Every property that loses messages when it is wrong is written out.

import { Names, Network, Queue, ServiceBusSize, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

@description('How the namespace is reached.')
param network Network

@description('Sku and capacity.')
param size ServiceBusSize

@description('Zone redundancy, which Premium has.')
param zoneRedundant bool

@description('No one deletes the namespace by accident.')
param locked bool

@description('The queue.')
param queue Queue

@description('What the queue was built from, for whoever looks at it.')
param queueOrigin string

var isPremium = size.sku == 'Premium'

resource namespace 'Microsoft.ServiceBus/namespaces@2026-01-01' = {
  name: names.serviceBus
  location: location
  tags: tags
  sku: union({ name: size.sku, tier: size.sku }, isPremium ? { capacity: size.capacity } : {})
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: network == 'private' ? 'Disabled' : 'Enabled'
    premiumMessagingPartitions: isPremium ? 1 : 0
    zoneRedundant: zoneRedundant
  }

  // Durations stand as the service gives them back, or each deployment would show a change.
  resource ordersQueue 'queues' = {
    name: queue.name
    properties: {
      deadLetteringOnMessageExpiration: queue.deadLetteringOnMessageExpiration
      defaultMessageTimeToLive: queue.defaultMessageTimeToLive
      duplicateDetectionHistoryTimeWindow: queue.duplicateDetectionHistoryTimeWindow
      enableBatchedOperations: true
      enableExpress: false
      enablePartitioning: false
      lockDuration: queue.lockDuration
      maxDeliveryCount: queue.maxDeliveryCount
      maxSizeInMegabytes: 5120
      requiresDuplicateDetection: queue.requiresDuplicateDetection
      requiresSession: queue.requiresSession
      status: 'Active'
      userMetadata: queueOrigin
    }
  }
}

resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' existing = {
  name: names.workspace
}

#disable-next-line use-recent-api-versions // no stable version knows category groups
resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: namespace
  name: 'logs'
  properties: {
    workspaceId: workspace.id
    logAnalyticsDestinationType: 'Dedicated'
    logs: [{ categoryGroup: 'allLogs', enabled: true }]
  }
}

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (locked) {
  scope: namespace
  name: 'cannot-delete'
  properties: {
    level: 'CanNotDelete'
    notes: 'Messages that wait here exist nowhere else.'
  }
}

@description('Host name of the namespace.')
output hostName string = split(namespace.properties.serviceBusEndpoint, '/')[2]
