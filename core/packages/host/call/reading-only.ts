import { askOf, httpOf } from '@dispatch/vendor-io'
import { failureError } from '@dispatch/vendor-io/outcome'
import type { CallApis } from './call-resources.ts'

/** Ways out that read and change nothing. `who` begins the sentence about what is refused. */
export function readingOnly (who: string): (ways: CallApis) => CallApis {
  const refuse = (what: string): Promise<never> =>
    Promise.reject(failureError({ word: 'provider_unavailable', message: `${who} wanted ${what}, but it only reads.`, ours: true }))
  return (ways) => {
    const ask = askOf(ways.http)
    return {
      ...ways,
      http: httpOf((method, url, call, fits) => method === 'GET' ? ask(method, url, call, fits) : refuse(`to ${method}`),
        () => refuse('to keep a document')),
      smtp: { ...ways.smtp, send: () => refuse('to send an e-mail') },
      documents: { ...ways.documents, compose: () => refuse('to make an e-mail') },
      files: { put: () => refuse('to write a file') }
    }
  }
}
