using 'azd.bicep'

var emails = readEnvironmentVariable('ALERT_EMAILS', '')
var operatorsId = readEnvironmentVariable('OPERATORS_ID', '')

param environmentName = readEnvironmentVariable('AZURE_ENV_NAME')
param environment = readEnvironmentVariable('CONTRACT_PROFILE', 'dev')
param location = readEnvironmentVariable('AZURE_LOCATION')
param alertEmails = empty(emails) ? [] : split(emails, ',')
param operators = empty(operatorsId)
  ? null
  : { principalId: operatorsId, principalType: readEnvironmentVariable('OPERATORS_TYPE', 'Group') }
