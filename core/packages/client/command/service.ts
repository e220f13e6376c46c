import { clientOf } from '../client.ts'
import type { BatchApi } from './batch.ts'
import type { CallbackDocument } from './listen.ts'
import type { LoginApi } from './login.ts'
import type { Surroundings } from './surroundings.ts'
import type { Json } from './words.ts'

type Page = { data: Json[], nextCursor: string | null }
type List = PromiseLike<Page> & AsyncIterable<Json>
/** The operations of a service that the command uses. */
export type Api = {
  api: {
    list: (options: object) => List
    show: (id: string) => Promise<Json>
    retry: (id: string, body: object, options: object) => Promise<Json>
    followAll: () => Promise<Response>
    templates: (options: object) => List
    template: (id: string) => Promise<Json>
    addTemplate: (body: object) => Promise<Json>
    addVersion: (id: number, body: object) => Promise<Json>
    preview: (id: string, body: object) => Promise<Response>
    send: (body: object, options: object) => Promise<Json>
    validate: (body: object, options: object) => Promise<Json>
    events: (options: object) => Promise<Response>
    document: () => Promise<CallbackDocument>
  }
  device: LoginApi
  batches: BatchApi
  wait: (id: string, options: object) => Promise<Json>
}

export const apiVersion = '1.1.0'

/** A service, for a key or for nobody. `services`: the path of what is dispatched. */
export function connected (url: string, services: string, key: string | undefined, sleep: Surroundings['wait']): Api {
  return clientOf({ baseUrl: url, ...key === undefined ? {} : { key } }, {
    apiVersion,
    ...sleep === undefined ? {} : {
      pause: async (seconds: number) => {
        await sleep(seconds * 1_000)
      }
    },
    operations: {
      api: {
        list: 'dispatches GET pages',
        show: 'dispatches/{id} GET',
        retry: 'dispatches/{id}/retry POST body key',
        followAll: 'dispatches/changes GET raw events',
        templates: 'templates GET pages',
        template: 'templates/{id} GET',
        addTemplate: 'templates POST body',
        addVersion: 'templates/{id} PUT body',
        preview: 'templates/{id}/preview POST body raw',
        send: `/api/${services} POST body key`,
        validate: `/api/${services}/validate POST body`,
        events: 'events/stream GET raw events',
        document: `/openapi/${apiVersion}.json GET`
      },
      device: { begin: '/auth/device POST body', take: '/auth/device/token POST body' },
      batches: {
        take: 'batches POST form key',
        read: 'batches/{id} GET',
        results: 'batches/{id}/results GET raw'
      }
    }
  }) as Api
}
