import { defineFeature, service } from '@dispatch/plugins/feature'
import { passkeyPages } from './pages/passkeys.ts'
import { passkeysRoutes } from './routes/passkeys.ts'
import { createPasskeys, passkeys } from './service/passkeys.ts'
import { relyingPartyOf } from './service/webauthn.ts'
import { fillPasskeys, passkeyFactors } from './store/passkeys.ts'

const ofPerson = { person: true, enrolment: true } as const

/** Passkeys (WebAuthn): a second factor or, where the device verifies its user, all that a sign-in needs. */
export default defineFeature({
  name: 'passkeys',
  needs: { ...service('config', 'database', 'secondFactors', 'verifications', 'now', 'newId'), passkeys },
  provides: (provide) => [
    provide(passkeys,
      ({ config, database, secondFactors, verifications: factors, now, newId }) =>
        createPasskeys({ database, secondFactors, factors, party: relyingPartyOf(config.publicUrl), now, newId }))
  ],
  tables: { passkeys: 'company', passkey_challenges: 'service' },
  routes: passkeysRoutes,
  before: 'createKey',
  permissions: {
    listMyPasskeys: ofPerson,
    beginMyPasskey: { freshProof: true, ...ofPerson },
    addMyPasskey: { freshProof: true, ...ofPerson },
    renameMyPasskey: ofPerson,
    removeMyPasskey: { ...ofPerson, irreversible: true }
  },
  pages: passkeyPages,
  verification: { kind: 'passkey', ...passkeyFactors, check: ({ passkeys }) => passkeys },
  audit: {
    'passkey.added': { en: 'Passkey added', fr: 'Clé d’accès ajoutée' },
    'passkey.renamed': { en: 'Passkey renamed', fr: 'Clé d’accès renommée' },
    'passkey.removed': { en: 'Passkey removed', fr: 'Clé d’accès retirée' }
  },
  isolation: fillPasskeys
})
