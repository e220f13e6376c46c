import { type Accepted, type Context, type Found, type Http, type HttpCall, type Json, Secret, type ServiceContracts, type Static, textOf,
  Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    'x-texts': {
      fr: { title: 'Clé d’API', description: 'une clé à accès complet ; pour un environnement de test, une clé du bac à sable de Yousign' }
    },
    description: 'a key with full access; for a sandbox one of the sandbox',
    pattern: '^\\S{20,}$'
  }),
  webhookSecret: Type.Optional(
    Secret({
      title: 'Webhook secret',
      pattern: '^\\S+$',
      'x-texts': { fr: { title: 'Secret du webhook', description: 'Le secret que Yousign affiche pour le webhook.' } },
      description: 'The secret that Yousign shows for the webhook.'
    })
  ),
  timezone: Type.Optional(
    Type.String({
      title: 'Time zone',
      'x-texts': { fr: { title: 'Fuseau horaire', description: 'des heures dans les e-mails ; Europe/Paris par défaut' } },
      description: 'of the times in e-mails; Europe/Paris unless set',
      format: 'time-zone'
    })
  )
})
export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['esign']['dispatch']

export const Created = Type.Object({ id: Type.String({ minLength: 1 }) })
export const SignatureRequest = Type.Object({
  id: Type.String({ minLength: 1 }),
  status: Type.String({ minLength: 1 }),
  decline_information: Type.Optional(Type.Unsafe<Json>({}))
})

/** A request to Yousign. The sandbox has a host and keys of its own; its signatures are not binding. */
export function ask (
  { settings: { apiKey }, sandbox }: Call,
  path: string,
  body: Pick<HttpCall, 'json' | 'multipart' | 'query'> = {}
): [url: string, call: HttpCall] {
  return [`https://api${sandbox ? '-sandbox' : ''}.yousign.app/v3/signature_requests${path}`, { bearer: apiKey, ...body }]
}

export const pathOf = (id: string): string => `/${encodeURIComponent(id)}`

/** The state of a draft: a request that is no longer a draft was activated. */
export async function find (draft: string, call: Call): Promise<Found> {
  const found = await call.http.get(...ask(call, pathOf(draft)), SignatureRequest)
  return found.status === 'draft' ? { found: 'draft' } : { found: 'accepted', response: answer(found) }
}

/** Deletes a draft. Nobody has been told of it. */
export async function withdraw (draft: string, call: Call, http: Http): Promise<void> {
  await http.delete(...ask(call, pathOf(draft)), Type.Unknown())
}

/** Why a signer has declined: https://developers.yousign.com/changelog/get-information-about-a-declined-signature-request. */
export function reasonOf (declined: Json = null): { reason?: string } {
  const reason = textOf(declined, '/reason')
  return reason === undefined ? {} : { reason }
}

export function answer ({ id, status }: Static<typeof SignatureRequest>): Accepted {
  return { id, status }
}
