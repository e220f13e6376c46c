import { token } from '@dispatch/plugins/feature'
import type { TemplateStore } from '../store/templates.ts'
import type { Assets } from './assets.ts'
import type { Brands } from './brand.ts'
import type { Partials } from './partials.ts'
import type { TemplateEditor } from './template-editor.ts'

export const templateStore = token<TemplateStore>('templateStore')
export const templateEditor = token<TemplateEditor>('templateEditor')
export const assets = token<Assets>('assets')
export const partials = token<Partials>('partials')
export const brands = token<Brands>('brands')
