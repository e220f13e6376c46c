import { type Html, html } from '@dispatch/plugins/routes'
import type { Language, Page } from '../service/library.ts'

/** Sections with many short pages: they are folded unless one of theirs is open. */
const folded: readonly string[] = ['Providers', 'Templates']

/** What is around a page, in its language. */
const words = {
  en: {
    skip: 'Skip to the text',
    all: 'All pages',
    reference: 'API reference',
    providers: 'Providers',
    label: 'Search the documentation',
    search: 'Search',
    toOther: 'Cette page en français'
  },
  fr: {
    skip: 'Aller au texte',
    all: 'Toutes les pages',
    reference: 'Référence de l’API',
    providers: 'Fournisseurs',
    label: 'Chercher dans la documentation',
    search: 'Chercher',
    toOther: 'This page in English'
  }
} as const satisfies Readonly<Record<Language, object>>

/**
 * What every page is: the menu, the search, and its part. `address`: below `/docs`, undefined where the page is in no menu. `other`: that
 * of the page in the other language.
 */
export function layoutOf ({ title, address, main, pages, query = '', style, language = 'en', other }: {
  title: string
  address?: string
  main: Html
  pages: readonly Page[]
  query?: string
  style: string
  language?: Language
  other?: string | undefined
}): Html {
  const { skip, all, reference, providers, label, search, toOther } = words[language]
  const start = language === 'fr' ? '/docs/fr' : '/docs/en'
  const otherLanguage = language === 'en' ? 'fr' : 'en'
  const way = other === undefined
    ? html``
    : html`<p class="other"><a href="/docs/${other}" lang="${otherLanguage}" hreflang="${otherLanguage}">${toOther}</a></p>\n`
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Document Dispatch</title>
<link rel="stylesheet" href="${style}">
<link rel="icon" href="data:,">
</head>
<body>
<a class="skip" href="#main">${skip}</a>
<header><div class="bar"><a class="brand" href="${start}">Document Dispatch</a>
<span class="ways"><a class="down" href="#pages">${all}</a><a href="/docs/reference">${reference}</a><a href="/docs/providers">${providers}</a></span>
<form role="search" action="${language === 'fr' ? start : '/docs'}/search"><label for="q">${label}</label>
<input type="search" id="q" name="q" value="${query}" maxlength="200" placeholder="${search}"><button>${search}</button></form></div></header>
<div class="docs">
<main id="main" tabindex="-1"><article>
${way}${main}</article></main>
${menuOf(pages, address, language)}
</div>
</body>
</html>
`
}

/** The menu: the pages in English by their sections, and before them the French ones for who reads French. */
function menuOf (pages: readonly Page[], address: string | undefined, language: Language): Html {
  const linksTo = (list: readonly Page[]): Html =>
    html`<ul>${
      list.map((page) =>
        html`<li><a href="/docs/${page.address}"${page.address === address ? html` aria-current="page"` : []}>${page.title}</a></li>`
      )
    }</ul>\n`
  const sections = Object.entries(Object.groupBy(pages.filter(({ listed }) => listed), ({ section }) => section))
  const english = sections.map(([name, list = []]) => {
    if (!folded.includes(name)) return html`<h2>${name}</h2>${linksTo(list)}`
    const isOpen = list.some((page) => page.address === address)
    return html`<details${isOpen ? html` open` : []}><summary>${name}</summary>${linksTo(list)}</details>`
  })
  if (language === 'en') return html`<nav id="pages" aria-label="Documentation" lang="en">\n${english}</nav>`
  const own = pages.filter((page) => page.language === language)
  return html`<nav id="pages" aria-label="Documentation">
<h2>Pages en français</h2>${linksTo(own)}<div lang="en">${english}</div></nav>`
}
