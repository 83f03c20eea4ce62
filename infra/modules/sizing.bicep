// What dev and prod differ in, beside the numbers of contract.json.

import { Sizing } from 'types.bicep'

@export()
@description('The sizing of each environment.')
var sizings = {
  dev: dev
  prod: prod
}

var dev Sizing = {
  network: 'public'
  zoneRedundant: false
  locks: false
  logRetentionDays: 30
  serviceBus: { sku: 'Standard', capacity: 1 }
  cosmos: { maxThroughput: 0, readRegions: [], backup: 'Continuous7Days' }
  functions: { maxInstances: 40, instanceMemoryMB: 2048 }
}

var prod Sizing = {
  network: 'private'
  zoneRedundant: true
  locks: true
  logRetentionDays: 90
  serviceBus: { sku: 'Premium', capacity: 1 }
  cosmos: { maxThroughput: 4000, readRegions: [], backup: 'Continuous30Days' }
  functions: { maxInstances: 100, instanceMemoryMB: 2048 }
}
