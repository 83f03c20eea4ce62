// The services' addresses inside the network, and the zones that tell them.

import { Names, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

resource network 'Microsoft.Network/virtualNetworks@2025-09-01' existing = {
  name: names.network

  resource subnet 'subnets' existing = {
    name: names.endpointSubnet
  }
}

resource namespace 'Microsoft.ServiceBus/namespaces@2026-01-01' existing = {
  name: names.serviceBus
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2026-03-15' existing = {
  name: names.cosmos
}

resource storage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: names.storage
}

resource app 'Microsoft.Web/sites@2025-03-01' existing = {
  name: names.functionApp
}

var services = [
  { id: namespace.id, part: 'namespace', zone: 'privatelink.servicebus.windows.net' }
  { id: account.id, part: 'Sql', zone: 'privatelink.documents.azure.com' }
  { id: storage.id, part: 'blob', zone: 'privatelink.blob.${environment().suffixes.storage}' }
  { id: storage.id, part: 'table', zone: 'privatelink.table.${environment().suffixes.storage}' }
  { id: app.id, part: 'sites', zone: 'privatelink.azurewebsites.net' }
]

resource endpoints 'Microsoft.Network/privateEndpoints@2025-09-01' = [
  for service in services: {
    name: 'pe-${names.network}-${toLower(service.part)}'
    location: location
    tags: tags
    properties: {
      subnet: { id: network::subnet.id }
      privateLinkServiceConnections: [
        {
          name: service.part
          properties: {
            #disable-next-line use-resource-id-functions // the table above has symbolic references
            privateLinkServiceId: service.id
            groupIds: [service.part]
          }
        }
      ]
    }
  }
]

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for service in services: {
    name: service.zone
    location: 'global'
    tags: tags
  }
]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (service, index) in services: {
    parent: zones[index]
    name: names.network // a zone of this name may serve another deployment's network too
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: { id: network.id }
    }
  }
]

resource records 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-09-01' = [
  for (service, index) in services: {
    parent: endpoints[index]
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [
        {
          name: service.part
          properties: { privateDnsZoneId: zones[index].id }
        }
      ]
    }
  }
]
