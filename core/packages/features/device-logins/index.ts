import { createRateLimiter } from '@dispatch/accounts'
import { defineFeature, service } from '@dispatch/plugins/feature'
import { devicePages } from './pages/device.ts'
import { parts } from './pages/parts.ts'
import { deviceLoginsRoutes } from './routes/device-logins.ts'
import { createDeviceLogins, deviceLogins } from './service/device-logins.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const open = { public: true } as const
const ofPerson = { person: true } as const

/** Logins of devices and commands (RFC 8628): a code is typed at the console, and the device gets a key. */
export default defineFeature({
  name: 'device-logins',
  needs: { ...service('accounts', 'config', 'database', 'keyAdministration', 'newId', 'now'), deviceLogins },
  provides: (provide) => [
    provide(deviceLogins,
      ({ accounts, config: { publicUrl, showsConsole }, database, keyAdministration, newId, now }) =>
        createDeviceLogins({
          database,
          accounts,
          keys: keyAdministration,
          limiters: {
            codes: createRateLimiter(database, { name: 'device-codes', quota: 10, window: 600 }),
            questions: createRateLimiter(database, { name: 'device-questions', quota: 120, window: 60 })
          },
          page: showsConsole ? `${publicUrl}/console/device` : undefined,
          now,
          newId
        }))
  ],
  tables: { device_logins: 'service' },
  migrations: { 'device-logins/001-device-logins': () => import('./migrations/001-device-logins.ts') },
  routes: deviceLoginsRoutes,
  before: 'createKey',
  permissions: {
    beginDeviceLogin: open,
    takeDeviceKey: open,
    readDeviceLogin: ofPerson,
    grantDeviceLogin: { ...ofPerson, freshProof: true },
    declineDeviceLogin: ofPerson
  },
  pages: devicePages,
  parts,
  audit: {
    'device-login.granted': { en: en.auditDeviceGranted, fr: fr.auditDeviceGranted },
    'device-login.declined': { en: en.auditDeviceDeclined, fr: fr.auditDeviceDeclined }
  }
})
