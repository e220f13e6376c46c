import { failureOf, type Http, type Subscribe, Type, type Unsubscribe } from '@dispatch/core/provider'
import { ask, type Call } from './settings.ts'

type Calling = Call & { http: Http }

/** https://developers.brevo.com/reference/create-webhook; its answers call the same events otherwise. */
const events = ['delivered', 'hardBounce', 'softBounce', 'invalid', 'blocked', 'opened', 'uniqueOpened', 'click', 'spam']

const Registered = Type.Object({ webhooks: Type.Array(Type.Object({ id: Type.Integer(), url: Type.String() })) })

/** Brevo takes any number of webhooks for one address: what it has already is changed. */
export const subscribe: Subscribe<Calling> = async ({ url, secret }, call) => {
  const json = { url, type: 'transactional', channel: 'email', events, auth: { type: 'bearer', token: secret } }
  const known = (await registered(call)).find((one) => one.url === url)
  const { id } = known ?? await call.http.post(...ask(call, '/webhooks', { json }), Type.Object({ id: Type.Integer() }))
  if (known !== undefined) await call.http.put(...ask(call, `/webhooks/${id}`, { json }), Type.Null())
  return { id: String(id), secrets: { webhookToken: secret } }
}

export const unsubscribe: Unsubscribe<Calling> = ({ id }, call) => call.http.delete(...ask(call, `/webhooks/${id}`), Type.Null())

/** An account without any is told as 404. */
async function registered (call: Calling): Promise<{ id: number, url: string }[]> {
  try {
    const { webhooks } = await call.http.get(...ask(call, '/webhooks', { query: { type: 'transactional' } }), Registered)
    return webhooks
  } catch (error) {
    if (failureOf(error)?.status === 404) return []
    throw error
  }
}
