import { defineFeature, service } from '@dispatch/plugins/feature'
import { companyLink } from './pages/company.ts'
import { pages } from './pages/pages.ts'
import { routes } from './routes/alerts.ts'
import { alerts, createAlerts, workOnAlerts } from './service/alerts.ts'
import { createMessenger } from './service/messages.ts'
import { alertsHolder } from './store/alerts.ts'
import { fillAlerts } from './store/tables.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const ruling = { roles: ['admin'], scopes: ['configuration'], everyService: true } as const

/** What companies want to be told of: by mail, by callback and in their chats. */
export default defineFeature({
  name: 'alerts',
  needs: { ...service('config', 'database', 'keyring', 'linkMail', 'log', 'network', 'newId', 'now', 'outbox'), alerts },
  provides: (provide) => [
    provide(alerts, ({ config: { publicUrl }, database, keyring, linkMail, log, network, newId, now, outbox }) => {
      const messenger = createMessenger({ database, keyring, linkMail, log, network, now, publicUrl })
      return createAlerts({ database, keyring, log, messenger, network, newId, now, outbox })
    })
  ],
  tables: { alerts: 'company', alert_messages: 'company' },
  migrations: { 'alerts/001-alerts': () => import('./migrations/001-alerts.ts') },
  holds: ({ database }) => [alertsHolder(database)],
  routes,
  before: 'listProviders',
  permissions: {
    listAlerts: ruling,
    addAlert: ruling,
    readAlert: ruling,
    changeAlert: ruling,
    removeAlert: ruling,
    tryAlert: ruling
  },
  pages,
  parts: { company: companyLink },
  menu: [{ section: 'alerts', path: '/console/alerts', label: { en: en.alerts, fr: fr.alerts }, after: 'usage', roles: ['admin'] }],
  audit: {
    'alert.added': { en: en.auditAlertAdded, fr: fr.auditAlertAdded },
    'alert.changed': { en: en.auditAlertChanged, fr: fr.auditAlertChanged },
    'alert.removed': { en: en.auditAlertRemoved, fr: fr.auditAlertRemoved },
    'alert.tried': { en: en.auditAlertTried, fr: fr.auditAlertTried }
  },
  work: ({ alerts: service, log }) => workOnAlerts(service, log),
  isolation: fillAlerts
})
