// The account, its databases and its containers.

import { Container, CosmosSize, Names, Network, Tags } from 'types.bicep'

@description('Region that takes the writes.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

@description('How the account is reached.')
param network Network

@description('Throughput, read regions and backup.')
param size CosmosSize

@description('Zone redundancy of each region.')
param zoneRedundant bool

@description('No one deletes the account by accident.')
param locked bool

@description('The containers, each with its database.')
param containers Container[]

var regions = concat([location], size.readRegions)
var databases = union(map(containers, container => container.database), [])
var isServerless = size.maxThroughput == 0

// The consumer reads by id alone, and an index on everything makes each write dearer.
var indexingPolicy = {
  automatic: true
  indexingMode: 'consistent'
  includedPaths: [{ path: '/type/?' }, { path: '/status/?' }]
  excludedPaths: [{ path: '/*' }]
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2026-03-15' = {
  name: names.cosmos
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    capabilities: isServerless ? [{ name: 'EnableServerless' }] : []
    // Creating a document is the lock of the whole pattern. Two regions that take writes would
    // each grant it, and one of the two orders would vanish when they reconcile.
    enableMultipleWriteLocations: false
    enableAutomaticFailover: !empty(size.readRegions)
    locations: [
      for (region, priority) in regions: {
        locationName: region
        failoverPriority: priority
        isZoneRedundant: zoneRedundant
      }
    ]
    consistencyPolicy: { defaultConsistencyLevel: 'Session' }
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: { tier: size.backup }
    }
    disableKeyBasedMetadataWriteAccess: true
    disableLocalAuth: true
    enableFreeTier: false
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: network == 'private' ? 'Disabled' : 'Enabled'
  }

  resource database 'sqlDatabases' = [
    for id in databases: {
      name: id
      properties: { resource: { id: id } }
    }
  ]
}

resource container 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2026-03-15' = [
  for container in containers: {
    parent: account::database[indexOf(databases, container.database)]
    name: container.resource.id
    properties: {
      // Throughput stands here and not in a resource of its own, which a second deployment trips over.
      options: isServerless ? {} : { autoscaleSettings: { maxThroughput: size.maxThroughput } }
      resource: union(container.resource, { indexingPolicy: indexingPolicy })
    }
  }
]

resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' existing = {
  name: names.workspace
}

#disable-next-line use-recent-api-versions // no stable version knows the destination type
resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: account
  name: 'logs'
  properties: {
    workspaceId: workspace.id
    logAnalyticsDestinationType: 'Dedicated'
    // Not the data plane: a line for each request costs more than the request.
    logs: [{ category: 'ControlPlaneRequests', enabled: true }]
  }
}

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (locked) {
  scope: account
  name: 'cannot-delete'
  properties: {
    level: 'CanNotDelete'
    notes: 'The markers here are all that knows which messages were applied.'
  }
}

@description('Endpoint of the account.')
output endpoint string = account.properties.documentEndpoint
