// The one page that shows what became of the messages.

import { Names, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' existing = {
  name: names.workspace
}

resource namespace 'Microsoft.ServiceBus/namespaces@2026-01-01' existing = {
  name: names.serviceBus
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2026-03-15' existing = {
  name: names.cosmos
}

// What the page calls each of them.
var ids = {
  '<workspace>': workspace.id
  '<namespace>': namespace.id
  '<account>': account.id
}

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: names.workbook
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    category: 'workbook'
    displayName: 'What became of the messages'
    sourceId: workspace.id
    serializedData: reduce(items(ids), loadTextContent('../workbook.json'), (page, id) => replace(page, id.key, id.value))
    version: '1.0'
  }
}
