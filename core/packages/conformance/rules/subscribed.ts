import { isRecord } from '@dispatch/common'
import { type DeliveryService, deliveryServices } from '@dispatch/contract'
import { readSubscription } from '@dispatch/host'
import { type Case, judged, skipped } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { attackedCases } from './cancel.ts'

/** Each service whose webhook its provider registers: what fixtures must show, and what becomes of it when a request fails. */
export async function subscribedCases (subject: ProviderUnderTest, questions: readonly Prepared[]): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const services = deliveryServices.filter((service) => manifest.services[service]?.verbs.includes('subscribe'))
  if (services.length === 0) return [skipped('subscribed', 'a registration', 'No service has the verb "subscribe".')]
  const cases = await inTurn(services, (service) => casesOf(subject, service, questions.filter(({ call }) => call.service === service)))
  return cases.flat()
}

async function casesOf (subject: ProviderUnderTest, service: DeliveryService, questions: readonly Prepared[]): Promise<Case[]> {
  const done = (verb: 'subscribe' | 'unsubscribe') =>
    questions.filter(({ call, result }) => call.verb === verb && result['outcome'] === undefined)
  const [registered, ended] = [done('subscribe'), done('unsubscribe')]
  const first = registered.find((one) => queryOf(one)['id'] === undefined)
  const [end] = ended
  const needs = (what: string, found: Prepared | undefined, file: string): Case =>
    judged('subscribed', `${what} of "${service}"`, found === undefined ? [`There is none: write fixtures/${file}.json.`] : [])
  return [
    needs('a registration', first, 'subscribe.accepted'),
    needs('one that is there already ("id" in its query)', registered.find((one) => queryOf(one)['id'] !== undefined), 'subscribe.again'),
    needs('the end of one', end, 'unsubscribe.accepted'),
    ...registered.map((one) => judged('subscribed', `${one.name}: what the vendor is told, and gives back`, toldFaults(subject, one))),
    ...first === undefined ? [] : await attackedCases(subject, first, 'subscribed'),
    ...end === undefined ? [] : await attackedCases(subject, end, 'subscribed')
  ]
}

function queryOf ({ call }: Prepared): Readonly<Record<string, unknown>> {
  return call.verb === 'dispatch' ? {} : call.query
}

function toldFaults ({ installed: { manifest } }: ProviderUnderTest, prepared: Prepared): string[] {
  const { url } = queryOf(prepared)
  if (typeof url !== 'string') return ['Its query has no "url": the address that the vendor is to be told.']
  const reported = prepared.call.exchange.some(({ expect }) => JSON.stringify(expect).includes(JSON.stringify(url).slice(1, -1)))
  const { result } = prepared
  const fit = isRecord(result) ? readSubscription(result, manifest.settings) : { ok: true as const }
  return [
    ...reported ? [] : [`No request tells the vendor the address "${url}".`],
    ...fit.ok ? [] : fit.problems.map(({ path, message }) => `${path} ${message}`.trim())
  ]
}
