// What is held of every page, and how a tab is opened that tells what goes wrong in it.

import axeCore from 'axe-core'

export const [program, given, folder] = process.argv.slice(2)
export const addresses = JSON.parse(given)
const { origin } = new URL(addresses.tryIt)

export const faults = []
export const counted = { pages: 0, rules: 0 }
export const hold = (held, fault) => held || faults.push(fault)

/** Light and dark, narrow and wide. */
export const LOOKS = ['light', 'dark'].flatMap((scheme) => [360, 1280].map((width) => [scheme, width]))

/** Open a tab that reports what goes wrong in it and what it loads from elsewhere, but for what a test `expects`. */
export async function tab(browser, { expects = () => false, ...options } = {}) {
  const context = await browser.newContext({ baseURL: origin, ...options })
  const page = await context.newPage()
  page.on('console', (said) => hold(said.type() !== 'error' || expects(said.text()), `${page.url()}: ${said.text()}`))
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
  page.on('request', (request) => hold(request.url().startsWith(origin), `${page.url()} loads ${request.url()}`))
  return page
}

/** Hold a page as it is opened, and with what can be opened in it. */
export async function holdPage(page, kind, colorScheme, width) {
  const where = `${kind}, ${colorScheme}, ${width} px`
  counted.pages += 1
  if (folder) await page.screenshot({ path: `${folder}/${kind}-${colorScheme}-${width}.png` })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  hold(wide <= 0, `${where}: ${wide} px too wide`)
  await page.evaluate(() => document.querySelectorAll('details').forEach((each) => (each.open = true)))
  await page.evaluate(axeCore.source)
  const { violations, passes } = await page.evaluate(() => axe.run())
  counted.rules += passes.length
  for (const { id, nodes } of violations) faults.push(`${where}: ${id} at ${nodes.map(({ target }) => target).join(' ')}`)
}
