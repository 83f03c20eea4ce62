// Who may do what: every grant of the deployment, each at the smallest scope that serves.

import { Container, Names, Operators } from 'types.bicep'

@description('Names of the resources.')
param names Names

@description('Name of the queue.')
param queueName string

@description('Containers that the consumer writes to.')
param containers Container[]

@description('People who look after the queue.')
param operators Operators?

var roles = {
  serviceBusReceiver: '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
  serviceBusSender: '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
  storageBlobDataOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  storageTableDataContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
  monitoringMetricsPublisher: '3913510d-42f4-4e42-8a64-420c390055eb'
}

var cosmosRoles = {
  dataReader: '00000000-0000-0000-0000-000000000001'
  dataContributor: '00000000-0000-0000-0000-000000000002'
}

resource consumer 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: names.identity
}

resource namespace 'Microsoft.ServiceBus/namespaces@2026-01-01' existing = {
  name: names.serviceBus

  resource ordersQueue 'queues' existing = {
    name: queueName
  }
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2026-03-15' existing = {
  name: names.cosmos
}

resource storage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: names.storage
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: names.applicationInsights
}

resource consumerReceives 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: namespace::ordersQueue
  name: guid(namespace::ordersQueue.id, consumer.id, roles.serviceBusReceiver)
  properties: {
    principalId: consumer.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.serviceBusReceiver)
  }
}

resource consumerWrites 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2026-03-15' = [
  for container in containers: {
    parent: account
    name: guid(account.id, container.database, container.resource.id, consumer.id, cosmosRoles.dataContributor)
    properties: {
      principalId: consumer.properties.principalId
      roleDefinitionId: '${account.id}/sqlRoleDefinitions/${cosmosRoles.dataContributor}'
      scope: '${account.id}/dbs/${container.database}/colls/${container.resource.id}'
    }
  }
]

// The Functions host keeps leases and packages in blobs, and diagnostic events in tables.
resource consumerHosts 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in [roles.storageBlobDataOwner, roles.storageTableDataContributor]: {
    scope: storage
    name: guid(storage.id, consumer.id, role)
    properties: {
      principalId: consumer.properties.principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
    }
  }
]

resource consumerReports 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: applicationInsights
  name: guid(applicationInsights.id, consumer.id, roles.monitoringMetricsPublisher)
  properties: {
    principalId: consumer.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roles.monitoringMetricsPublisher
    )
  }
}

// Dead letters are received, and sent again.
resource operatorsSendAndReceive 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in operators == null ? [] : [roles.serviceBusReceiver, roles.serviceBusSender]: {
    scope: namespace::ordersQueue
    name: guid(namespace::ordersQueue.id, operators!.principalId, role)
    properties: {
      principalId: operators!.principalId
      principalType: operators!.principalType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
    }
  }
]

resource operatorsRead 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2026-03-15' = [
  for container in operators == null ? [] : containers: {
    parent: account
    name: guid(account.id, container.database, container.resource.id, operators!.principalId, cosmosRoles.dataReader)
    properties: {
      principalId: operators!.principalId
      roleDefinitionId: '${account.id}/sqlRoleDefinitions/${cosmosRoles.dataReader}'
      scope: '${account.id}/dbs/${container.database}/colls/${container.resource.id}'
    }
  }
]
