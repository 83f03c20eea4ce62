// What `azd provision` deploys: a resource group, and main.bicep in it.

targetScope = 'subscription'

import { Environment, Operators } from 'modules/types.bicep'

@description('Name of the azd environment, and with it of the resource group.')
param environmentName string

@description('Profile of contract.json, and with it the sizing.')
param environment Environment

@description('Region.')
param location string

@description('Mail addresses that alerts go to; prod needs one.')
param alertEmails string[]

@description('People who look after the queue.')
param operators Operators?

var tags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-${environmentName}'
  location: location
  tags: tags
}

module main 'main.bicep' = {
  scope: group
  params: {
    environment: environment
    location: location
    alertEmails: alertEmails
    operators: operators
    tags: tags
  }
}

@description('Name of the resource group.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Name of the function app.')
output FUNCTION_APP string = main.outputs.functionAppName

@description('Host name of the Service Bus namespace; the setting that a sender needs.')
output ServiceBus__fullyQualifiedNamespace string = main.outputs.serviceBusNamespace

@description('Endpoint of the Cosmos DB account.')
output Cosmos__accountEndpoint string = main.outputs.cosmosEndpoint

@description('The profile, as the app has it.')
output IDEMPOTENT_CONSUMER_PROFILE string = main.outputs.profile
