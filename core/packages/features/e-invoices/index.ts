import { defineFeature, service } from '@dispatch/plugins/feature'
import { eInvoicePages } from './pages/e-invoices.ts'
import { eInvoiceRoutes } from './routes/e-invoices.ts'
import { createReader, invoiceReader } from './service/reader.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

/** E-invoices that a company has got from others: what is in a file, whether it is right, and a page that people can read. */
export default defineFeature({
  name: 'e-invoices',
  needs: { ...service('now', 'templates', 'templateWorkers'), invoiceReader },
  provides: (provide) => [
    provide(invoiceReader, ({ now, templates, templateWorkers }) => createReader({ now, templates, templateWorkers }))
  ],
  routes: eInvoiceRoutes,
  permissions: { readEInvoice: { scopes: ['send', 'read_own', 'read_all'], testable: true } },
  pages: eInvoicePages,
  menu: [{
    section: 'e-invoices',
    path: '/console/e-invoices',
    label: { en: en.eInvoices, fr: fr.eInvoices },
    after: 'send',
    roles: ['admin', 'member']
  }]
})
