// A profile of contract.json, checked: numbers that contradict each other fail the deployment.
// The rules are those that the consumer checks at its start: src/idempotent_consumer/core/profile.py.

import { consistsOf } from 'text.bicep'
import { Profile } from 'types.bicep'

@export()
@description('The profile itself, once it keeps every rule; else the deployment fails with each that it breaks.')
func checked(profile Profile) Profile =>
  empty(problems(profile)) ? profile : fail('profile ${profile.profile}: ${join(problems(profile), '; ')}')

@export()
@description('Every rule that the profile breaks, in words.')
func problems(profile Profile) string[] =>
  empty(unreadable(profile)) ? map(filter(rules(profile), rule => rule.broken), rule => rule.text) : unreadable(profile)

func unreadable(profile Profile) string[] =>
  map(
    filter(durations(profile), duration => !isDuration(duration)),
    duration => '${duration} is no duration such as PT1M or P14D'
  )

func durations(profile Profile) string[] => [
  profile.host.functionTimeout
  profile.host.maxAutoLockRenewalDuration
  profile.host.processingBudget
  profile.queue.lockDuration
  profile.queue.defaultMessageTimeToLive
  profile.queue.duplicateDetectionHistoryTimeWindow
  profile.producer.maxRetryHorizon
  profile.resubmission.maxAge
  profile.retention.markerTimeToLive
  profile.retention.margin
  profile.outage.endured
]

// Of days, hours, minutes and whole seconds: a month has no length, and what has a sign may be none.
// Whether these are well put together, dateTimeAdd says.
func isDuration(text string) bool => consistsOf(text, 'PTDHMS0123456789') && !contains(split(text, 'T')[0], 'M')

func rules(profile Profile) { broken: bool, text: string }[] => [
  {
    broken: seconds(profile.retention.markerTimeToLive) < retentionNeeded(profile)
    text: 'markers live ${seconds(profile.retention.markerTimeToLive)} s, but must outlive ${retentionNeeded(profile)} s'
  }
  {
    broken: profile.queue.maxDeliveryCount * seconds(profile.host.processingBudget) < seconds(profile.outage.endured)
    text: '${profile.queue.maxDeliveryCount} deliveries of ${profile.host.processingBudget} do not outlast an outage of ${profile.outage.endured}'
  }
  {
    broken: profile.queue.maxDeliveryCount < 2
    text: 'a message is delivered at least twice'
  }
  {
    broken: seconds(profile.host.processingBudget) < seconds('PT20S')
    text: 'a budget of ${profile.host.processingBudget} leaves no time for one store call'
  }
  {
    broken: seconds(profile.host.processingBudget) + seconds('PT10S') > seconds(profile.host.functionTimeout)
    text: 'the budget of ${profile.host.processingBudget} does not end before the function timeout of ${profile.host.functionTimeout}, less 10 s'
  }
  {
    broken: seconds(profile.host.maxAutoLockRenewalDuration) < seconds(profile.host.functionTimeout)
    text: 'locks are renewed for ${profile.host.maxAutoLockRenewalDuration}, functions run for ${profile.host.functionTimeout}'
  }
  {
    broken: seconds(profile.queue.lockDuration) > seconds('PT5M')
    text: 'a lock of ${profile.queue.lockDuration} is longer than Service Bus grants'
  }
  {
    broken: seconds(profile.queue.lockDuration) == 0
    text: 'a lock lasts for a while'
  }
  {
    broken: seconds(window(profile)) < seconds(profile.producer.maxRetryHorizon) || seconds(window(profile)) > seconds('PT1H')
    text: 'duplicate detection looks back ${window(profile)}, producers re-send for ${profile.producer.maxRetryHorizon}'
  }
]

func window(profile Profile) string => profile.queue.duplicateDetectionHistoryTimeWindow

// R >= H + (k+1)(T + N max(L, P)) + k S + margin, in seconds.
func retentionNeeded(profile Profile) int =>
  seconds(profile.producer.maxRetryHorizon) + (profile.resubmission.maxTimes + 1) * oneLife(profile) + profile.resubmission.maxTimes * seconds(profile.resubmission.maxAge) + seconds(profile.retention.margin)

func oneLife(profile Profile) int =>
  seconds(profile.queue.defaultMessageTimeToLive) + profile.queue.maxDeliveryCount * max(
    seconds(profile.queue.lockDuration),
    seconds(profile.host.maxAutoLockRenewalDuration)
  )

func seconds(duration string) int => dateTimeToEpoch(dateTimeAdd('1970-01-01T00:00:00Z', duration))
