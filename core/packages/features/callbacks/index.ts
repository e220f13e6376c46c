import { defineFeature, ports, service } from '@dispatch/plugins/feature'
import { migrations } from './migrations/outbox.ts'
import { endpointPages } from './pages/endpoint.ts'
import { endpointsPages } from './pages/endpoints.ts'
import { eventsPages } from './pages/events.ts'
import { routes } from './routes/routes.ts'
import { callbacks, createCallbacks } from './service/callbacks.ts'
import { createDelivery, delivery } from './service/delivery.ts'
import { createCallbackEndpoints, endpoints } from './service/endpoints.ts'
import { createFeeds, feeds } from './service/feeds.ts'
import { createOutbox } from './service/outbox.ts'
import { createSigning, signing } from './service/signing.ts'
import { workOnCallbacks } from './service/work.ts'
import { dispatchRows } from './store/dispatch-rows.ts'
import { feedHolder } from './store/event-feeds.ts'
import { fillCallbacks } from './store/tables.ts'

const admin = { roles: ['admin'], scopes: ['callbacks'] } as const
const ofCompany = { roles: ['admin', 'operator'], scopes: ['callbacks'] } as const
/** Whoever makes one shows a fresh proof. An endpoint is told of dispatches of every service. */
const making = { roles: ['admin'], freshProof: true, everyService: true } as const
const changing = { ...admin, everyService: true } as const

/**
 * What companies are told of their dispatches and of themselves: at the address of a dispatch, at endpoints of the company, and in a feed
 * for clients without a public address. The core records an event by the outbox, in the transaction of what has happened.
 */
export default defineFeature({
  name: 'callbacks',
  needs: {
    ...service('changes', 'database', 'documentUrl', 'keyring', 'log', 'network', 'newId', 'now', 'queue'),
    outbox: ports.outbox,
    callbacks,
    delivery,
    endpoints,
    feeds,
    signing
  },
  provides: (provide) => [
    provide(ports.outbox, (given) => createOutbox(given)),
    provide(signing, (given) => createSigning(given)),
    provide(callbacks, (given) => createCallbacks(given)),
    provide(delivery, (given) => createDelivery(given)),
    provide(endpoints,
      ({ database, network, newId, now, queue, signing: secrets }) =>
        createCallbackEndpoints({ database, guard: network.guard, network, newId, now, queue, signing: secrets })),
    provide(feeds, (given) => createFeeds(given))
  ],
  tables: {
    outbox: 'company',
    outbox_attempts: 'company',
    callback_endpoints: 'company',
    callback_secrets: 'company',
    event_feeds: 'company',
    feed_events: 'company'
  },
  migrations,
  dispatchRows: () => [dispatchRows],
  holds: ({ database }) => [feedHolder(database)],
  routes,
  permissions: {
    listDispatchCallbacks: { scopes: ['read_own', 'read_all'] },
    listCompanyCallbacks: ofCompany,
    listFailedCallbacks: { ...ofCompany, everyService: 'of keys' },
    replayCallback: changing,
    listCallbackSecrets: admin,
    createCallbackSecret: { ...making, irreversible: true },
    listCallbackEndpoints: admin,
    createCallbackEndpoint: making,
    readCallbackEndpoint: admin,
    updateCallbackEndpoint: making,
    deleteCallbackEndpoint: changing,
    rotateCallbackEndpointSecret: { ...making, irreversible: true },
    testCallbackEndpoint: changing,
    listCallbackEndpointCallbacks: { ...admin, everyService: 'of keys' },
    resendFailedCallbacks: changing,
    listEvents: changing,
    followEvents: changing
  },
  pages: (app, _options, done) => {
    void app.register(endpointsPages)
    void app.register(endpointPages)
    void app.register(eventsPages)
    done()
  },
  audit: {
    'callback-endpoint.changed': { en: 'Callback endpoint changed', fr: 'Point de réception modifié' },
    'callback-endpoint.created': { en: 'Callback endpoint created', fr: 'Point de réception créé' },
    'callback-endpoint.removed': { en: 'Callback endpoint removed', fr: 'Point de réception supprimé' },
    'callback-endpoint.failing': { en: 'Endpoint fails since days', fr: 'Point de réception en échec depuis des jours' },
    'callback-endpoint.disabled': {
      en: 'Endpoint disabled after 5 days of failure',
      fr: 'Point de réception désactivé après 5 jours d’échec'
    },
    'callback-endpoint.resent': { en: 'Callbacks sent to an endpoint again', fr: 'Rappels renvoyés à un point de réception' },
    'callback-endpoint.secret-rotated': { en: 'Secret of a callback endpoint replaced', fr: 'Secret d’un point de réception remplacé' },
    'callback-endpoint.tested': { en: 'Test callback sent', fr: 'Rappel d’essai envoyé' },
    'callback-secret.rotated': { en: 'Secret of the callbacks replaced', fr: 'Secret des rappels remplacé' },
    'callback.replayed': { en: 'Callback sent again', fr: 'Rappel renvoyé' }
  },
  work: workOnCallbacks,
  isolation: fillCallbacks
})
