// The network of a private deployment: one subnet for the app, one for private endpoints.

import { Names, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

resource network 'Microsoft.Network/virtualNetworks@2025-09-01' = {
  name: names.network
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: ['10.0.0.0/23'] }
    subnets: [
      {
        name: names.appSubnet
        properties: {
          addressPrefix: '10.0.0.0/24'
          delegations: [
            {
              name: 'flex-consumption'
              properties: { serviceName: 'Microsoft.App/environments' }
            }
          ]
        }
      }
      {
        name: names.endpointSubnet
        properties: {
          addressPrefix: '10.0.1.0/24'
          privateEndpointNetworkPolicies: 'Disabled'
        }
      }
    ]
  }
}
