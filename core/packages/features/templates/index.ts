import { defineFeature, ports, service } from '@dispatch/plugins/feature'
import { contacts } from '../contacts/service/contacts.ts'
import { brandLink } from './pages/brand.ts'
import { findTemplates } from './pages/find.ts'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { createAssets } from './service/assets.ts'
import { createBrands } from './service/brand.ts'
import { createTemplates } from './service/find.ts'
import { createPartials } from './service/partials.ts'
import { publishShipped } from './service/shipped.ts'
import { createTemplateEditor } from './service/template-editor.ts'
import { assets, brands, partials, templateEditor, templateStore } from './service/tokens.ts'
import { fillTemplates } from './store/fill.ts'
import { createTemplateStore } from './store/templates.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

/** What documents and messages are made of, and the pictures in them: shared ones, and each company's own. */
export default defineFeature({
  name: 'templates',
  needs: {
    ...service('database', 'freshness', 'templateWorkers', 'log', 'now'),
    contacts,
    templateStore,
    templateEditor,
    assets,
    brands,
    partials
  },
  provides: (provide) => [
    provide(ports.templates, ({ templateStore, brands: kept }) => createTemplates(templateStore, kept)),
    provide(templateStore, ({ database, freshness }) => createTemplateStore(database, freshness)),
    provide(brands,
      ({ database, freshness, contacts: { ownSince }, now }) => createBrands({ database, freshness, details: ownSince, now })),
    provide(partials,
      ({ database, templateWorkers, brands: kept, now }) => createPartials({ database, templateWorkers, brands: kept, now })),
    provide(templateEditor,
      ({ database, templateStore: templates, templateWorkers, brands: kept, now }) =>
        createTemplateEditor({ database, templates, templateWorkers, brands: kept, now })),
    provide(assets, ({ database, templateWorkers: workers, now }) => createAssets({ database, workers, now }))
  ],
  tables: {
    templates: 'company',
    template_versions: 'company',
    assets: 'company',
    partials: 'company',
    brands: 'company',
    brand_versions: 'company',
    brand_logos: 'company'
  },
  migrations: {
    'templates/001-brands': () => import('./migrations/001-brands.ts'),
    'templates/002-partials': () => import('./migrations/002-partials.ts')
  },
  prepare: publishShipped,
  routes,
  before: 'listProviders',
  permissions: {
    listTemplates: { scopes: ['send', 'propose', 'templates'] },
    readTemplate: { scopes: ['send', 'propose', 'templates'] },
    listTemplateVersions: { scopes: ['send', 'templates'] },
    createTemplate: { roles: ['admin'], scopes: ['templates'] },
    createTemplateVersion: { roles: ['admin'], scopes: ['templates'] },
    publishTemplate: { roles: ['admin'], scopes: ['templates'] },
    checkTemplate: { roles: ['admin'], scopes: ['templates'] },
    deleteTemplate: { roles: ['admin'], scopes: ['templates'] },
    previewTemplate: { scopes: ['send', 'propose', 'templates'] },
    previewEInvoices: { scopes: ['send', 'propose', 'templates'] },
    previewTemplateText: { roles: ['admin'], scopes: ['templates'] },
    listAssets: { scopes: ['send', 'templates'] },
    readAsset: { scopes: ['send', 'templates'] },
    listAssetTemplates: { scopes: ['send', 'templates'] },
    replaceAsset: { roles: ['admin'], scopes: ['templates'] },
    createAsset: { roles: ['admin'], scopes: ['templates'] },
    deleteAsset: { roles: ['admin'], scopes: ['templates'] },
    listPartials: { scopes: ['send', 'templates'] },
    readPartial: { scopes: ['send', 'templates'] },
    listPartialTemplates: { scopes: ['send', 'templates'] },
    storePartial: { roles: ['admin'], scopes: ['templates'] },
    deletePartial: { roles: ['admin'], scopes: ['templates'] },
    readBrand: { scopes: ['send', 'templates'] },
    updateBrand: { roles: ['admin'], scopes: ['templates'] },
    previewBrand: { roles: ['admin'], scopes: ['templates'] }
  },
  pages,
  parts: { finds: findTemplates, company: brandLink },
  menu: [{ section: 'templates', path: '/console/templates', label: { en: en.templates, fr: fr.templates }, after: 'contents' }],
  audit: {
    'template.created': { en: 'Template created', fr: 'Modèle créé' },
    'template.changed': { en: 'Template changed', fr: 'Modèle modifié' },
    'template.published': { en: 'Template published', fr: 'Modèle publié' },
    'template.deleted': { en: 'Template deleted', fr: 'Modèle supprimé' },
    'asset.created': { en: 'Picture added', fr: 'Image ajoutée' },
    'asset.replaced': { en: 'Picture replaced', fr: 'Image remplacée' },
    'partial.changed': { en: 'Partial changed', fr: 'Bloc commun modifié' },
    'partial.deleted': { en: 'Partial deleted', fr: 'Bloc commun supprimé' },
    'brand.changed': { en: 'Brand changed', fr: 'Charte graphique modifiée' },
    'asset.deleted': { en: 'Picture deleted', fr: 'Image supprimée' }
  },
  isolation: fillTemplates
})
