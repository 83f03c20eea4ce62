// Where telemetry goes, and who is told.

import { Names, Tags } from 'types.bicep'

@description('Region.')
param location string

@description('Tags of each resource.')
param tags Tags

@description('Names of the resources.')
param names Names

@description('Days for which logs are kept.')
param retentionDays int

@description('Mail addresses that alerts go to.')
param alertEmails string[]

resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' = {
  name: names.workspace
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionDays
    features: { disableLocalAuth: true }
  }
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' = {
  name: names.applicationInsights
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    IngestionMode: 'LogAnalytics'
    DisableLocalAuth: true
  }
}

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: names.actionGroup
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: 'consumer'
    emailReceivers: [
      for email in alertEmails: {
        name: email
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

@description('Where the app sends telemetry; shown by itself it admits no one.')
output connectionString string = applicationInsights.properties.ConnectionString
