using 'main.bicep'

param environment = 'dev'
