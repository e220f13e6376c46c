import type { HttpCall, Json } from '@dispatch/core/provider'
import { createHash } from 'node:crypto'
import type { Call } from './settings.ts'

type Keys = { applicationSecret: string, consumerKey: string }
type Signed = { method: string, url: string, body: string, time: number }

/** The signature of a request, as the SDKs make it: https://github.com/ovh/python-ovh. */
export function signatureOf ({ applicationSecret, consumerKey }: Keys, { method, url, body, time }: Signed): string {
  const text = [applicationSecret, consumerKey, method, url, body, time].join('+')
  return `$1$${createHash('sha1').update(text).digest('hex')}`
}

const hosts = { eu: 'eu.api.ovh.com', ca: 'ca.api.ovh.com' } as const

/** A signed request to the SMS account. The signature is of the very bytes of the body, so they are written here. */
export function ask (
  { settings, now }: Pick<Call, 'settings' | 'now'>,
  method: 'GET' | 'POST',
  path: string,
  json?: Json
): [url: string, call: HttpCall] {
  const { applicationKey, account, region = 'eu' } = settings
  const url = `https://${hosts[region]}/1.0/sms/${encodeURIComponent(account)}${path}`
  const [time, body] = [Math.floor(now().getTime() / 1000), json === undefined ? '' : JSON.stringify(json)]
  const headers = {
    'X-Ovh-Application': applicationKey,
    'X-Ovh-Consumer': settings.consumerKey,
    'X-Ovh-Timestamp': String(time),
    'X-Ovh-Signature': signatureOf(settings, { method, url, body, time })
  }
  return [url, json === undefined ? { headers } : { headers: { ...headers, 'content-type': 'application/json' }, text: body }]
}
