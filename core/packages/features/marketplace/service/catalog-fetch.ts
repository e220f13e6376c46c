import type { Fetch } from '@dispatch/marketplace'
import type { Network } from '@dispatch/vendor-io'

/** Milliseconds for the head of an answer; the whole of it has the limit of who asks. */
const answerWithin = 10_000

/** Reads over the guarded connections of the service, which follow no redirects. */
export function createCatalogFetch (transport: Network['transport']): Fetch {
  return async (url, { headers, signal }) => {
    const { status, headers: answered, body } = await transport.send({ method: 'GET', url: new URL(url), headers, signal, answerWithin })
    return {
      status,
      headers: { get: (name) => [answered[name] ?? []].flat()[0] ?? null },
      body: body as AsyncIterable<Uint8Array>
    }
  }
}
