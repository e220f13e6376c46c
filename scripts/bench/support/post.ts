import { request } from 'node:http'

/**
 * Sends JSON, or a text of it, on a connection of its own; resolves with the status when the answer has been read, with 0 when none came.
 */
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
