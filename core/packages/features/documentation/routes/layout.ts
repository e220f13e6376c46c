import { type Html, html } from '@dispatch/plugins/routes'
import type { Page } from '../service/library.ts'

/** Sections with many short pages: they are folded unless one of theirs is open. */
const folded: readonly string[] = ['Providers', 'Templates']

/** What every page is: the menu, the search, and its part. `address`: below `/docs`, undefined where the page is in no menu. */
export function layoutOf ({ title, address, main, pages, query = '', style }: {
  title: string
  address?: string
  main: Html
  pages: readonly Page[]
  query?: string
  style: string
}): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Document Dispatch</title>
<link rel="stylesheet" href="${style}">
<link rel="icon" href="data:,">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><div class="bar"><a class="brand" href="/docs">Document Dispatch</a>
<span class="ways"><a class="down" href="#pages">All pages</a><a href="/docs/reference">API reference</a><a href="/docs/providers">Providers</a></span>
<form role="search" action="/docs/search"><label for="q">Search the documentation</label>
<input type="search" id="q" name="q" value="${query}" maxlength="200" placeholder="Search"><button>Search</button></form></div></header>
<div class="docs">
<main id="main" tabindex="-1"><article>
${main}</article></main>
${menuOf(pages, address)}
</div>
</body>
</html>
`
}

function menuOf (pages: readonly Page[], address: string | undefined): Html {
  const sections = Object.entries(Object.groupBy(pages.filter(({ listed }) => listed), ({ section }) => section))
  return html`<nav id="pages" aria-label="Documentation">
${
    sections.map(([name, list = []]) => {
      const links = html`<ul>${
        list.map((page) =>
          html`<li><a href="/docs/${page.address}"${page.address === address ? html` aria-current="page"` : []}>${page.title}</a></li>`
        )
      }</ul>\n`
      if (!folded.includes(name)) return html`<h2>${name}</h2>${links}`
      const isOpen = list.some((page) => page.address === address)
      return html`<details${isOpen ? html` open` : []}><summary>${name}</summary>${links}</details>`
    })
  }</nav>`
}
