import { request } from 'node:http'

/** Sends JSON, or a JSON text, on its own connection. Resolves to the status after the answer was read, or to 0 without an answer. */
export function post (url: string, path: string, body: object | string, authorization?: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const sent = request(url + path, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) }
  }, (response) => {
    response.resume().once('close', () => {
      resolve(response.statusCode ?? 0)
    })
  })
  sent.once('error', () => {
    resolve(0)
  })
  sent.end(typeof body === 'string' ? body : JSON.stringify(body))
  return promise
}
