// The app on Flex Consumption, under the consumer's identity and without a key.

import { FunctionsSize, Names, Network, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

@description('Whether the app itself is reached from anywhere; nothing but its deployment calls it.')
param network Network

@description('Instances and memory.')
param size FunctionsSize

@description('Zone redundancy.')
param zoneRedundant bool

@description('Python of the app.')
param pythonVersion string

@description('Where the deployed package lies.')
param packageUrl string

@description('Settings that the app reads, beside those of its host.')
param settings AppSettings

@description('Value of each setting.')
type AppSettings = {
  @description('The value.')
  *: string
}

resource consumer 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: names.identity
}

resource virtualNetwork 'Microsoft.Network/virtualNetworks@2025-09-01' existing = {
  name: names.network

  resource subnet 'subnets' existing = {
    name: names.appSubnet
  }
}

// Not here, for Flex Consumption refuses them: FUNCTIONS_WORKER_RUNTIME and its like.
var hostSettings = {
  AzureWebJobsStorage__accountName: names.storage
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: consumer.properties.clientId
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${consumer.properties.clientId};Authorization=AAD'
  PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY: 'true'
  // A span of the SDK holds the URL, and so the key, of every request to Cosmos DB.
  OTEL_PYTHON_DISABLED_INSTRUMENTATIONS: 'azure_sdk,requests,urllib,urllib3'
  AZURE_CLIENT_ID: consumer.properties.clientId
  ServiceBus__credential: 'managedidentity'
  ServiceBus__clientId: consumer.properties.clientId
  Cosmos__clientId: consumer.properties.clientId
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: names.plan
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: {
    reserved: true
    zoneRedundant: zoneRedundant
  }
}

resource app 'Microsoft.Web/sites@2025-03-01' = {
  name: names.functionApp
  location: location
  tags: union(tags, { 'azd-service-name': 'consumer' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${consumer.id}': {} }
  }
  properties: {
    serverFarmId: plan.id
    clientAffinityEnabled: false
    httpsOnly: true
    publicNetworkAccess: network == 'private' ? 'Disabled' : 'Enabled'
    virtualNetworkSubnetId: network == 'private' ? virtualNetwork::subnet.id : null
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: consumer.id
          }
        }
      }
      runtime: { name: 'python', version: pythonVersion }
      scaleAndConcurrency: {
        maximumInstanceCount: size.maxInstances
        instanceMemoryMB: size.instanceMemoryMB
      }
    }
    siteConfig: {
      ftpsState: 'Disabled'
      http20Enabled: true
      minTlsVersion: '1.2'
      remoteDebuggingEnabled: false
      appSettings: map(items(union(hostSettings, settings)), setting => { name: setting.key, value: setting.value })
    }
  }

  resource noFtpPassword 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
  }

  resource noPublishingPassword 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
  }
}
