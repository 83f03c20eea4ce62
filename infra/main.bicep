// A queue, a store, and a consumer between them that applies each message once.
// The numbers come from contract.json, sizes from modules/sizing.bicep; nothing has a key.

targetScope = 'resourceGroup'

import { checked } from 'modules/contract.bicep'
import { sizings } from 'modules/sizing.bicep'
import { consistsOf } from 'modules/text.bicep'
import { Container, Environment, Names, Operators, Profile, Sizing, Tags } from 'modules/types.bicep'

@description('Profile of contract.json, and with it the sizing.')
param environment Environment

@description('Region.')
param location string = resourceGroup().location

@description('Begins the name of each resource; lower-case letters and digits.')
@minLength(3)
@maxLength(9)
param baseName string = 'orders'

@description('Python of the function app.')
@allowed(['3.11', '3.12', '3.13'])
param pythonVersion string = '3.13'

@description('How logs show the key of a message: as it is, or as a digest.')
@allowed(['plain', 'digest'])
param logKeys string = 'plain'

@description('Mail addresses that alerts go to; prod needs one.')
param alertEmails string[] = []

@description('Percent of messages that may be duplicates before someone is told.')
@minValue(1)
@maxValue(100)
param duplicateRateThreshold int = 20

@description('People who look after the queue.')
param operators Operators?

@description('Further tags of each resource.')
param tags Tags = {}

var contract = loadJsonContent('contract.json')
var profile Profile = checked(union(
  {
    profile: environment
    contractVersion: contract.contractVersion
    host: contract.host
    cosmos: contract.cosmos
  },
  contract.profiles[environment]
))
var contractHash = uniqueString(string(profile))
var queue = profile.queue
var containers Container[] = flatten(map(
  profile.cosmos.databases,
  database => map(database.containers, container => { database: database.id, resource: container })
))

var sizing Sizing = sizings[environment]
var isPrivate = sizing.network == 'private'
var suffix = '${named(baseName)}-${uniqueString(resourceGroup().id, baseName)}'
var names Names = {
  actionGroup: 'ag-${suffix}'
  applicationInsights: 'appi-${suffix}'
  cosmos: 'cosmos-${suffix}'
  functionApp: 'func-${suffix}'
  identity: 'id-${suffix}'
  network: 'vnet-${suffix}'
  appSubnet: 'app'
  endpointSubnet: 'endpoints'
  plan: 'plan-${suffix}'
  serviceBus: 'sb-${suffix}'
  suffix: suffix
  storage: 'st${replace(suffix, '-', '')}'
  workbook: guid(resourceGroup().id, baseName)
  workspace: 'log-${suffix}'
}
var receivers = environment == 'prod' && empty(alertEmails)
  ? fail('prod needs alertEmails: an alert would reach no one')
  : alertEmails
var allTags Tags = union(tags, {
  environment: environment
  'contract-version': string(contract.contractVersion)
  'contract-hash': contractHash
})

func named(baseName string) string =>
  consistsOf(baseName, 'abcdefghijklmnopqrstuvwxyz0123456789')
    ? baseName
    : fail('baseName ${baseName} has other characters than lower-case letters and digits, and so would resources')

resource consumer 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: names.identity
  location: location
  tags: allTags
}

module monitoring 'modules/monitoring.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
    retentionDays: sizing.logRetentionDays
    alertEmails: receivers
  }
}

module messaging 'modules/messaging.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
    network: sizing.network
    size: sizing.serviceBus
    zoneRedundant: sizing.zoneRedundant
    locked: sizing.locks
    queue: queue
    queueOrigin: 'contract ${contract.contractVersion} ${environment} ${contractHash}'
  }
  dependsOn: [monitoring]
}

module data 'modules/data.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
    network: sizing.network
    size: sizing.cosmos
    zoneRedundant: sizing.zoneRedundant
    locked: sizing.locks
    containers: containers
  }
  dependsOn: [monitoring]
}

module storage 'modules/storage.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
    network: sizing.network
    zoneRedundant: sizing.zoneRedundant
    packageContainer: 'packages'
  }
}

module roles 'modules/roles.bicep' = {
  params: {
    names: names
    queueName: queue.name
    containers: containers
    operators: operators
  }
  dependsOn: [consumer, data, messaging, monitoring, storage]
}

module network 'modules/network.bicep' = if (isPrivate) {
  params: {
    location: location
    tags: allTags
    names: names
  }
}

module functionApp 'modules/functionapp.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
    network: sizing.network
    size: sizing.functions
    zoneRedundant: sizing.zoneRedundant
    pythonVersion: pythonVersion
    packageUrl: storage.outputs.packageUrl
    settings: {
      APPLICATIONINSIGHTS_CONNECTION_STRING: monitoring.outputs.connectionString
      ServiceBus__fullyQualifiedNamespace: messaging.outputs.hostName
      Cosmos__accountEndpoint: data.outputs.endpoint
      ORDERS_QUEUE: queue.name
      IDEMPOTENT_CONSUMER_PROFILE: string(profile)
      IDEMPOTENT_CONSUMER_LOG_KEYS: logKeys
    }
  }
  dependsOn: [network, roles] // a grant takes minutes to be known everywhere
}

module privateEndpoints 'modules/privateendpoints.bicep' = if (isPrivate) {
  params: {
    location: location
    tags: allTags
    names: names
  }
  dependsOn: [functionApp]
}

module workbook 'modules/workbook.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
  }
  dependsOn: [data, messaging, monitoring]
}

module alerts 'modules/alerts.bicep' = {
  params: {
    location: location
    tags: allTags
    names: names
    queueName: queue.name
    duplicateRateThreshold: duplicateRateThreshold
  }
  dependsOn: [workbook]
}

@description('Version of contract.json.')
output contractVersion int = contract.contractVersion

@description('Digest of the profile: equal where the numbers are.')
output contractHash string = contractHash

@description('Name of the function app.')
output functionAppName string = names.functionApp

@description('Client id of the identity that the consumer has.')
output consumerClientId string = consumer.properties.clientId

@description('Host name of the Service Bus namespace.')
output serviceBusNamespace string = messaging.outputs.hostName

@description('Name of the queue.')
output queueName string = queue.name

@description('Endpoint of the Cosmos DB account.')
output cosmosEndpoint string = data.outputs.endpoint

@description('The profile, as the app has it: the setting IDEMPOTENT_CONSUMER_PROFILE.')
output profile string = string(profile)

@description('Id of the workbook that every alert points to.')
output workbookId string = resourceId('Microsoft.Insights/workbooks', names.workbook)
