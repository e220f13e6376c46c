import { defineFeature, service } from '@dispatch/plugins/feature'
import { companyLink, fills, findContacts } from './pages/fills.ts'
import { pages } from './pages/pages.ts'
import { contactsRoutes } from './routes/contacts.ts'
import { contacts, createContacts } from './service/contacts.ts'
import { contactsHolder, fillContacts } from './store/contacts.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const ofSenders = { scopes: ['send'], testable: true } as const

/** To whom documents go, and who a company is on them: kept once, so that nobody types it again. */
export default defineFeature({
  name: 'contacts',
  needs: { ...service('database', 'now'), contacts },
  provides: (provide) => [provide(contacts, ({ database, now }) => createContacts({ database, now }))],
  tables: { contacts: 'company', own_details: 'company' },
  migrations: {
    'contacts/001-contacts': () => import('./migrations/001-contacts.ts'),
    'contacts/002-own-details-change': () => import('./migrations/002-own-details-change.ts'),
    'contacts/003-own-details-time': () => import('./migrations/003-own-details-time.ts')
  },
  holds: ({ database }) => [contactsHolder(database)],
  routes: contactsRoutes,
  before: 'listDispatches',
  permissions: {
    listContacts: ofSenders,
    createContact: ofSenders,
    readContact: ofSenders,
    updateContact: ofSenders,
    deleteContact: ofSenders,
    readOwnDetails: ofSenders,
    updateOwnDetails: { roles: ['admin'], scopes: ['configuration'] }
  },
  pages,
  parts: { fills, finds: findContacts, company: companyLink },
  menu: [{ section: 'contacts', path: '/console/contacts', label: { en: en.contacts, fr: fr.contacts }, after: 'contents' }],
  audit: {
    'contact.created': { en: 'Contact added', fr: 'Contact ajouté' },
    'contact.changed': { en: 'Contact changed', fr: 'Contact modifié' },
    'contact.removed': { en: 'Contact deleted', fr: 'Contact supprimé' },
    'own-details.changed': { en: 'Details of the company changed', fr: 'Coordonnées de la société modifiées' }
  },
  isolation: fillContacts
})
