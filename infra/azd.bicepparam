using 'azd.bicep'

import { listed } from 'modules/text.bicep'

var operatorsId = readEnvironmentVariable('OPERATORS_ID', '')

param environmentName = readEnvironmentVariable('AZURE_ENV_NAME')
param environment = readEnvironmentVariable('CONTRACT_PROFILE', 'dev')
param location = readEnvironmentVariable('AZURE_LOCATION')
param alertEmails = listed(readEnvironmentVariable('ALERT_EMAILS', ''))
param operators = empty(operatorsId)
  ? null
  : { principalId: operatorsId, principalType: readEnvironmentVariable('OPERATORS_TYPE', 'Group') }
