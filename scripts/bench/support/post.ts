import { request } from 'node:http'

/** Sends JSON, or a JSON text, on its own connection. Resolves to the status after the answer was read, or to 0 without an answer. */
export function post (url: string, path: string, body: object | string, authorization?: string, localAddress?: string): Promise<number> {
  return ask(url, path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), authorization, localAddress })
}

type Asking = { method?: string, body?: string, authorization?: string | undefined, localAddress?: string | undefined }

/** The same for a request of any method. */
export function ask (url: string, path: string, { method = 'GET', body, authorization, localAddress }: Asking): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const sent = request(url + path, {
    method,
    agent: false,
    headers: {
      ...body === undefined ? {} : { 'content-type': 'application/json' },
      ...authorization === undefined ? {} : { authorization }
    },
    ...localAddress === undefined ? {} : { localAddress }
  }, (response) => {
    response.resume().once('close', () => {
      resolve(response.statusCode ?? 0)
    })
  })
  sent.once('error', () => {
    resolve(0)
  })
  sent.end(body)
  return promise
}
