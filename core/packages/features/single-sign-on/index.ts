import { defineFeature, service } from '@dispatch/plugins/feature'
import { parts } from './pages/parts.ts'
import { singleSignOnPages } from './pages/single-sign-on.ts'
import { singleSignOnRoutes } from './routes/single-sign-on.ts'
import { createSigningOn, signingOn } from './service/signing-on.ts'
import { createSingleSignOn, singleSignOn } from './service/single-sign-on.ts'
import { signOnRoutes } from './session/sign-on.ts'
import { fillSingleSignOn } from './store/fill.ts'
import { endIdentities } from './store/single-sign-on.ts'

const readers = { scopes: ['audit'], roles: ['admin', 'operator'] } as const
const changers = { freshProof: true, roles: ['admin', 'operator'] } as const

/** Signing in at the console by the OpenID provider of a company, which may require it. */
export default defineFeature({
  name: 'single-sign-on',
  needs: {
    ...service('accounts', 'config', 'database', 'keyring', 'log', 'now', 'openId', 'secondFactors', 'sessions'),
    singleSignOn,
    signingOn
  },
  provides: (provide) => [
    provide(singleSignOn, ({ accounts, config, database, keyring, now, openId, secondFactors }) =>
      createSingleSignOn({
        database,
        accounts,
        keyring,
        openId,
        prove: secondFactors.prove,
        publicUrl: config.publicUrl,
        plainHttp: config.environment === 'development',
        now
      })),
    provide(signingOn,
      ({ accounts, config, database, keyring, log, now, openId, secondFactors }) =>
        createSigningOn({ database, accounts, keyring, openId, prove: secondFactors.prove, publicUrl: config.publicUrl, log, now }))
  ],
  tables: { single_sign_on: 'company', user_identities: 'company', sign_on_answers: 'service' },
  routes: singleSignOnRoutes,
  before: 'readCompanyDomains',
  permissions: {
    readSingleSignOn: readers,
    updateSingleSignOn: changers,
    deleteSingleSignOn: changers,
    readMySingleSignOn: { scopes: 'any' },
    unlinkMySingleSignOn: { person: true, irreversible: true },
    readUserSingleSignOn: readers,
    unlinkUser: changers
  },
  session: signOnRoutes,
  pages: singleSignOnPages,
  parts,
  passwordPolicy: ({ singleSignOn }) => singleSignOn.passwordPolicy,
  audit: {
    'single-sign-on.changed': { en: 'Single sign-on changed', fr: 'Authentification unique modifiée' },
    'single-sign-on.removed': { en: 'Single sign-on removed', fr: 'Authentification unique supprimée' },
    'identity.linked': { en: 'Account of the identity provider linked', fr: 'Compte du fournisseur d’identité lié' },
    'identity.unlinked': { en: 'Account of the identity provider unlinked', fr: 'Compte du fournisseur d’identité délié' }
  },
  endAccess: endIdentities,
  isolation: fillSingleSignOn
})
