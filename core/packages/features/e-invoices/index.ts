import { defineFeature, service } from '@dispatch/plugins/feature'
import { eInvoicePages } from './pages/e-invoices.ts'
import { eInvoiceRoutes } from './routes/e-invoices.ts'
import { createReader, invoiceReader } from './service/reader.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

/** E-invoices of others: what is in a file, whether it is right, a page that people can read; and where others receive theirs. */
export default defineFeature({
  name: 'e-invoices',
  needs: { ...service('now', 'templates', 'templateWorkers', 'directories'), invoiceReader },
  provides: (provide) => [
    provide(invoiceReader, ({ now, templates, templateWorkers }) => createReader({ now, templates, templateWorkers }))
  ],
  routes: eInvoiceRoutes,
  permissions: {
    readEInvoice: { scopes: ['send', 'read_own', 'read_all'], testable: true },
    findEInvoiceRecipients: { scopes: ['send', 'propose', 'read_own', 'read_all'] }
  },
  pages: eInvoicePages,
  menu: [{
    section: 'e-invoices',
    path: '/console/e-invoices',
    label: { en: en.eInvoices, fr: fr.eInvoices },
    after: 'invoices',
    roles: ['admin', 'member']
  }]
})
