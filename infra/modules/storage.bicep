// The Functions host's own storage: packages and leases, no business data.

import { Names, Network, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

@description('How the account is reached.')
param network Network

@description('Zone redundancy.')
param zoneRedundant bool

@description('Name of the blob container that holds the deployed package.')
param packageContainer string

resource account 'Microsoft.Storage/storageAccounts@2026-04-01' = {
  name: names.storage
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: zoneRedundant ? 'Standard_ZRS' : 'Standard_LRS' }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: network == 'private' ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: network == 'private' ? 'Deny' : 'Allow'
    }
  }

  resource blobs 'blobServices' = {
    name: 'default'

    resource packages 'containers' = {
      name: packageContainer
      properties: { publicAccess: 'None' }
    }
  }
}

@description('Where the package is put.')
output packageUrl string = '${account.properties.primaryEndpoints.blob}${packageContainer}'
