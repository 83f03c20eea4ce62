using 'main.bicep'

import { listed } from 'modules/text.bicep'

param environment = 'prod'
param alertEmails = listed(readEnvironmentVariable('ALERT_EMAILS', ''))
