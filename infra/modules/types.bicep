// The shapes that main.bicep and the modules hand to each other.

@export()
@description('A profile of contract.json that Azure can hold; `local` belongs to the emulators.')
type Environment = 'dev' | 'prod'

@export()
@description('public: reached from anywhere, by identity. private: through private endpoints only.')
type Network = 'public' | 'private'

@export()
@description('What a deployment costs and withstands, beside the numbers of the contract.')
type Sizing = {
  @description('How Service Bus, Cosmos DB, storage and the app are reached.')
  network: Network

  @description('Zone redundancy of everything that has it.')
  zoneRedundant: bool

  @description('No one deletes the namespace or the account by accident.')
  locks: bool

  @description('Days for which logs are kept.')
  @minValue(30)
  @maxValue(730)
  logRetentionDays: int

  @description('Of the Service Bus namespace.')
  serviceBus: ServiceBusSize

  @description('Of the Cosmos DB account.')
  cosmos: CosmosSize

  @description('Of the function app.')
  functions: FunctionsSize
}

@export()
@description('Size of the Service Bus namespace.')
type ServiceBusSize = {
  @description('Basic has no duplicate detection; private endpoints need Premium.')
  sku: 'Standard' | 'Premium'

  @description('Messaging units of Premium; Standard has one.')
  capacity: 1 | 2 | 4 | 8 | 16
}

@export()
@description('Size of the Cosmos DB account.')
type CosmosSize = {
  @description('Request units a second up to which a container scales by itself; 0 is serverless.')
  @minValue(0)
  maxThroughput: int

  @description('Regions that serve reads and take over in a failover; writes have one region.')
  readRegions: string[]

  @description('How far back the account can be restored.')
  backup: 'Continuous7Days' | 'Continuous30Days'
}

@export()
@description('Size of the function app.')
type FunctionsSize = {
  @description('Instances at most; each handles maxConcurrentCalls messages at a time.')
  @minValue(40)
  @maxValue(1000)
  maxInstances: int

  @description('Memory of an instance.')
  instanceMemoryMB: 512 | 2048 | 4096
}

@export()
@description('One profile of contract.json with what it shares with the others, as the app reads it. ISO 8601 durations.')
type Profile = {
  @description('Name of the profile.')
  profile: string

  @description('Version of the shape of contract.json.')
  contractVersion: int

  @description('What host.json says.')
  host: Host

  @description('Databases, each with its containers.')
  cosmos: Cosmos

  @description('The queue.')
  queue: Queue

  @description('Those who send.')
  producer: Producer

  @description('Dead letters that are sent again.')
  resubmission: Resubmission

  @description('The memory of what was applied.')
  retention: Retention

  @description('What the store may do to us.')
  outage: Outage
}

@description('The numbers of the Functions host.')
type Host = {
  @description('When the host ends an invocation.')
  functionTimeout: string

  @description('How long the host renews a lock.')
  maxAutoLockRenewalDuration: string

  @description('How long one delivery is worked on, retries included.')
  processingBudget: string

  @description('Messages that one instance handles at a time.')
  @minValue(1)
  maxConcurrentCalls: int
}

@description('What the account holds.')
type Cosmos = {
  @description('Its databases.')
  databases: Database[]
}

@description('A database of the account.')
type Database = {
  @description('Name of the database.')
  id: string

  @description('Its containers.')
  containers: DatabaseContainer[]
}

@description('Those who send.')
type Producer = {
  @description('The oldest message that a producer sends once more.')
  maxRetryHorizon: string
}

@description('Dead letters that are sent again.')
type Resubmission = {
  @description('The oldest that is.')
  maxAge: string

  @description('How often one is.')
  @minValue(0)
  maxTimes: int
}

@description('The memory of what was applied.')
type Retention = {
  @description('How long it is remembered that a message was applied.')
  markerTimeToLive: string

  @description('Added to what retention must cover.')
  margin: string
}

@description('What the store may do to us.')
type Outage = {
  @description('The longest store outage that must cost no message its deliveries.')
  endured: string
}

@export()
@description('A queue, in the words of contract.json.')
type Queue = {
  @description('Name of the queue.')
  name: string

  @description('How long a delivery is locked without renewal; ISO 8601, as all durations are.')
  lockDuration: string

  @description('Deliveries before the broker dead-letters a message; the consumer gives up before.')
  @minValue(1)
  @maxValue(2000)
  maxDeliveryCount: int

  @description('Time to live, and a ceiling for what senders ask for.')
  defaultMessageTimeToLive: string

  @description('An expired message is kept for people.')
  deadLetteringOnMessageExpiration: true

  @description('A second send under a known MessageId is dropped.')
  requiresDuplicateDetection: true

  @description('How long a MessageId is known for that.')
  duplicateDetectionHistoryTimeWindow: string

  @description('The consumer receives without sessions.')
  requiresSession: false
}

@export()
@description('A Cosmos DB container and its database.')
type Container = {
  @description('Name of the database.')
  database: string

  @description('The container.')
  resource: DatabaseContainer
}

@description('A Cosmos DB container, in the words of contract.json.')
type DatabaseContainer = {
  @description('Name of the container.')
  id: string

  @description('Path, kind and hash version of the partition key.')
  partitionKey: PartitionKey

  @description('-1: a document lives for ever unless its own ttl says otherwise.')
  defaultTtl: -1
}

@description('The partition key of a container.')
type PartitionKey = {
  @description('The one path.')
  paths: string[]

  @description('One value, hashed.')
  kind: 'Hash'

  @description('Version 1 takes keys that are equal in the first 101 bytes for one partition.')
  version: 2
}

@export()
@description('People who look after the queue: a group, a person or a pipeline.')
type Operators = {
  @description('Object id in Microsoft Entra ID.')
  principalId: string

  @description('What the object id stands for.')
  principalType: 'Group' | 'ServicePrincipal' | 'User'
}

@export()
@description('Names of what the modules refer to.')
type Names = {
  @description('Action group of the alerts.')
  actionGroup: string

  @description('Application Insights.')
  applicationInsights: string

  @description('Cosmos DB account.')
  cosmos: string

  @description('Function app.')
  functionApp: string

  @description('User-assigned identity of the consumer.')
  identity: string

  @description('Virtual network.')
  network: string

  @description('Subnet through which the app reaches out.')
  appSubnet: string

  @description('Subnet of the private endpoints.')
  endpointSubnet: string

  @description('Plan of the function app.')
  plan: string

  @description('Service Bus namespace.')
  serviceBus: string

  @description('Storage account of the Functions host.')
  storage: string

  @description('Ends the name of each alert, so that those of two deployments are two.')
  suffix: string

  @description('Workbook; a GUID.')
  workbook: string

  @description('Log Analytics workspace.')
  workspace: string
}

@export()
@description('Tags of each resource.')
type Tags = {
  @description('Value of the tag.')
  *: string
}
