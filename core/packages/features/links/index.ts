import { createRateLimiter } from '@dispatch/accounts'
import { defineFeature, service } from '@dispatch/plugins/feature'
import { pages } from './pages/pages.ts'
import { parts } from './pages/parts.ts'
import { linksRoutes } from './routes/links.ts'
import { createLinks, links } from './service/links.ts'
import { endLinks, fillLinks } from './store/links.ts'

const ofAdmins = { freshProof: true, person: true, roles: ['admin', 'operator'] } as const
const open = { public: true } as const
/** In seconds. */
const hour = 3_600

/** One-time links with which people choose a password: invitations, and links for another password. */
export default defineFeature({
  name: 'links',
  needs: { ...service('accounts', 'config', 'database', 'linkMail', 'log', 'newId', 'now', 'passwordPolicy'), links },
  provides: (provide) => [
    provide(links, ({ accounts, config, database, linkMail, log, newId, now, passwordPolicy }) =>
      createLinks({
        database,
        accounts,
        page: config.showsConsole ? `${config.publicUrl}/console/link` : undefined,
        linkMail,
        passwordPolicy,
        limiter: createRateLimiter(database, { name: 'forgotten', quota: 3, window: hour }),
        log,
        now,
        newId
      }))
  ],
  tables: { one_time_links: 'company' },
  routes: linksRoutes,
  before: 'readLinkMail',
  permissions: {
    listInvitations: { scopes: ['audit'], roles: ['admin', 'operator'] },
    createInvitation: ofAdmins,
    renewInvitation: ofAdmins,
    withdrawInvitation: { person: true, roles: ['admin', 'operator'] },
    createPasswordLink: ofAdmins,
    readPasswordLinks: open,
    requestPasswordLink: open,
    readLink: open,
    useLink: open
  },
  pages,
  parts,
  audit: {
    'invitation.created': { en: 'User invited', fr: 'Utilisateur invité' },
    'invitation.renewed': { en: 'Invitation sent again', fr: 'Invitation renvoyée' },
    'invitation.withdrawn': { en: 'Invitation withdrawn', fr: 'Invitation retirée' },
    'invitation.accepted': { en: 'Invitation accepted', fr: 'Invitation acceptée' },
    'password-link.created': { en: 'Link for another password made', fr: 'Lien de changement de mot de passe créé' },
    'password-link.refused': { en: 'Link for another password not mailed', fr: 'Lien de changement de mot de passe non envoyé' },
    'password.reset': { en: 'Password chosen by a link', fr: 'Mot de passe choisi par un lien' }
  },
  endAccess: endLinks,
  drain: ({ links }) => links.drain(),
  isolation: fillLinks
})
