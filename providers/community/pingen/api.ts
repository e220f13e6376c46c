import { type HttpCall, Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

/** What every request needs. */
type Asking = Pick<Call, 'settings' | 'sandbox'>

export const Letter = Type.Object({
  data: Type.Object({ id: Type.String({ minLength: 1 }), attributes: Type.Object({ status: Type.String({ minLength: 1 }) }) })
})
export const Letters = Type.Object({ data: Type.Array(Type.Unknown()) })
export const Upload = Type.Object({
  data: Type.Object({ attributes: Type.Object({ url: Type.String(), url_signature: Type.String() }) })
})

const jsonApi = { 'Content-Type': 'application/vnd.api+json' }

export function ask ({ settings: { clientId, clientSecret }, sandbox }: Asking, path: string, more: HttpCall = {}): [string, HttpCall] {
  const place = sandbox ? '-staging' : ''
  const tokenUrl = `https://identity${place}.pingen.com/auth/access-tokens`
  const oauth2 = { grant: 'client_credentials', tokenUrl, clientId, clientSecret, clientAuth: 'body', scope: 'letter' } as const
  return [`https://api${place}.pingen.com/${path}`, { oauth2, ...more }]
}

/** The path of the letters of the organisation, or of one of them. */
export function pathOf ({ settings: { organisation } }: Asking, id?: string, verb = ''): string {
  return `organisations/${organisation}/deliveries/letters/${id === undefined ? '' : encodeURIComponent(id)}${verb}`
}

/** The body of a request about a letter. */
export function letter (attributes: object | undefined, id?: string): Pick<HttpCall, 'headers' | 'json'> {
  return { headers: jsonApi, json: { data: { type: 'letters', id, attributes } } }
}

/** Seconds between two looks, and looks at most. */
const [pause, looks] = [2, 6]

/** The status of a letter once it is another one than those that pass, or the last one that was seen. */
export async function settled (
  id: string,
  passing: readonly string[],
  call: Pick<Call, 'settings' | 'sandbox' | 'http' | 'wait'>
): Promise<string> {
  const look = async (): Promise<string> => (await call.http.get(...ask(call, pathOf(call, id)), Letter)).data.attributes.status
  let status = await look()
  for (let looked = 1; looked < looks && passing.includes(status); looked++) {
    await call.wait(pause)
    status = await look()
  }
  return status
}
