"""Embedded emulators of Azure Service Bus and Azure Cosmos DB, with faults and a clock."""
