import { createKeySources } from '@dispatch/host'
import { defineFeature, ports, service } from '@dispatch/plugins/feature'
import { join } from 'node:path'
import { webhookRoutes } from './routes/webhooks.ts'
import { eventSpool, openLately } from './service/event-spool.ts'
import { createInbox, inbox } from './service/inbox.ts'
import { createWebhookReceiver, webhookReceiver } from './service/webhook-receiver.ts'
import { createWebhookVerifier, webhookVerifier } from './service/webhook-verifier.ts'
import { workOnEvents } from './service/work.ts'

/**
 * What vendors tell of what they were given: proved, kept before it is answered, and read by the provider into the statuses and timelines
 * of steps. Which status may follow which is the core's.
 */
export default defineFeature({
  name: 'vendor-events',
  needs: {
    ...service('config', 'configurations', 'database', 'fetchJson', 'freshness', 'host', 'keyring', 'log', 'newId', 'now', 'onReply',
      'onStatusChange', 'queue', 'simulatedVendor', 'statusQuery'),
    eventSpool,
    inbox,
    webhookReceiver,
    webhookVerifier
  },
  provides: (provide) => [
    provide(eventSpool, ({ config, log, newId, now }) => openLately({ folder: join(config.dataDirectory, 'webhooks'), now, newId, log })),
    provide(ports.waitingEvents, ({ eventSpool: { count } }) => ({ count })),
    provide(inbox, ({ database, eventSpool: spool, log, queue }) => createInbox({ database, queue, spool, log })),
    provide(webhookVerifier, ({ config, database, fetchJson, freshness, keyring, log, now, simulatedVendor }) =>
      createWebhookVerifier({
        database,
        freshness,
        keyring,
        keys: createKeySources({
          fetchJson,
          now,
          onError: (err, url) => log.warn({ err, url }, 'the public keys of a vendor could not be fetched')
        }),
        ...config.environment === 'development' ? simulatedVendor.endpoints : { endpointAuth: config.webhookAuth }
      })),
    provide(webhookReceiver,
      ({ config, host, inbox: kept, keyring, log, newId, now, webhookVerifier: verifier }) =>
        createWebhookReceiver({ host, inbox: kept, keyring, log, newId, now, publicUrl: config.publicUrl, webhookVerifier: verifier }))
  ],
  routes: webhookRoutes,
  before: 'checkHealth',
  permissions: { receiveWebhook: { public: true }, tryWebhook: { public: true } },
  work: workOnEvents
})
