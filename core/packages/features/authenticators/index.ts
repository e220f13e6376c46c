import { defineFeature, service } from '@dispatch/plugins/feature'
import { appPages } from './pages/app.ts'
import { authenticatorsRoutes } from './routes/authenticators.ts'
import { authenticators, createAuthenticators } from './service/authenticators.ts'
import { appFactors, fillAuthenticators } from './store/authenticators.ts'

const ofPerson = { freshProof: true, person: true, enrolment: true } as const

/** Apps that make codes (TOTP), as a second factor. */
export default defineFeature({
  name: 'authenticators',
  needs: { ...service('database', 'keyring', 'now'), authenticators },
  provides: (provide) => [
    provide(authenticators, ({ database, keyring, now }) => createAuthenticators({ database, keyring, now }))
  ],
  tables: { authenticators: 'company' },
  routes: authenticatorsRoutes,
  before: 'renewMyRecoveryCodes',
  permissions: { beginMySecondFactor: ofPerson, confirmMySecondFactor: ofPerson },
  pages: appPages,
  verification: { kind: 'app', ...appFactors, check: ({ authenticators }) => authenticators },
  audit: { 'second_factor.set': { en: 'App for codes set up', fr: 'Application de codes configurée' } },
  isolation: fillAuthenticators
})
