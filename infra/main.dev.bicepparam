using 'main.bicep'

import { listed } from 'modules/text.bicep'

param environment = 'dev'
param alertEmails = listed(readEnvironmentVariable('ALERT_EMAILS', ''))
