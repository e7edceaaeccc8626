// Holds the pages of the reference.

import { LOOKS, addresses, faults, folder, hold, holdPage, tab } from './holding.mjs'

const { tryIt } = addresses
const KINDS = {
  start: '/docs/',
  guide: '/docs/guides/quickstart-in-python/',
  read: '/docs/operations/list_invoices/',
  json: '/docs/operations/create_invoice/',
  form: '/docs/operations/issue_partner_token/',
  file: '/docs/operations/import_bank_transactions/',
  errors: '/docs/errors/',
  error: '/docs/errors/allocation_exceeds_outstanding/',
  objects: '/docs/objects/',
  object: '/docs/objects/Invoice/',
  changelog: '/docs/changelog/',
  downloads: '/docs/downloads/'
}
const PLACEHOLDER = 'https://api.accounting.example'
// What is asked, and one of the first five that are found.
const ASKED = {
  credit_limit: '/docs/objects/Customer/#field-credit_limit',
  period_locked: '/docs/errors/period_locked/',
  'coffees one day': '/docs/guides/bank-statements/',
  'postman bruno': '/docs/downloads/',
  'sandboxes year of trade': '/docs/changelog/#'
}
const CSV = 'Date,Amount\n2026-07-15,600.00\n'

export const reference = (browser) => [
  ...LOOKS.map(([scheme, width]) => look(browser, scheme, width)),
  print(browser), search(browser), tryOut(browser), copy(browser), withoutScript(browser)
]

/** Hold a page of each kind, as it is opened and with what can be opened in it. */
async function look(browser, colorScheme, width) {
  const page = await tab(browser, { colorScheme, viewport: { width, height: 800 } })
  for (const [kind, address] of Object.entries(KINDS)) {
    await page.goto(address)
    await holdPage(page, kind, colorScheme, width)
  }
  await page.fill('#query', 'invoice')
  await page.waitForSelector('.found li')
  await holdPage(page, 'found', colorScheme, width)
  await page.goto(tryIt)
  await page.goto(KINDS.file)
  await page.selectOption('.sent-as', 'multipart/form-data')
  await page.locator('.try form button').scrollIntoViewIfNeeded()
  await holdPage(page, 'trying', colorScheme, width)
  await page.context().close()
}

/** On paper stand the text and the samples, and nothing that leads elsewhere. */
async function print(browser) {
  const page = await tab(browser, { viewport: { width: 720, height: 1000 } })
  await page.emulateMedia({ media: 'print' })
  for (const [kind, address] of Object.entries(KINDS)) {
    await page.goto(address)
    hold(await page.isVisible('main h1'), `${kind}: nothing is printed`)
    for (const gone of ['header', '.contents']) hold(await page.isHidden(gone), `${kind}: ${gone} is printed`)
    const cut = await page.$$eval('main pre', (all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length)
    hold(cut === 0, `${kind}: ${cut} samples are cut on paper`)
    if (folder) await page.pdf({ path: `${folder}/${kind}.pdf` })
  }
  await page.context().close()
}

/** By the keyboard alone: to the text, to the search, to what it finds. */
async function search(browser) {
  const page = await tab(browser)
  await page.goto(KINDS.start)
  await page.keyboard.press('Tab')
  hold((await focused(page)) === 'Skip to the text', 'The first stop does not skip to the text.')
  for (const [asked, wanted] of Object.entries(ASKED)) {
    await page.goto(KINDS.start)
    await page.keyboard.press('/')
    await page.keyboard.type(asked)
    await page.waitForSelector('.found li')
    const found = await page.$$eval('.found a', (links) => links.slice(0, 5).map((link) => link.getAttribute('href')))
    const at = found.findIndex((address) => address.startsWith(wanted))
    hold(at >= 0, `${asked}: found ${found}`)
    for (let step = 0; step <= at; step += 1) await page.keyboard.press('ArrowDown')
    await Promise.all([page.waitForURL((url) => url.href.includes(wanted)), page.keyboard.press('Enter')])
  }
  await unknown(browser)
  // Once it is fetched, the search asks nobody.
  await page.goto(KINDS.start)
  const index = page.waitForResponse(/search[.]json$/)
  await page.focus('#query')
  await (await index).finished()
  await page.context().setOffline(true)
  await page.keyboard.type('invoice')
  await page.waitForSelector('.found li')
  await page.context().close()
}

/** An unknown address shows what its words find. */
async function unknown(browser) {
  const page = await tab(browser, { expects: (said) => said.includes('404') })
  await page.goto('/docs/guides/web-hooks')
  await page.waitForSelector('#nearest.places')
  hold(await page.$('#nearest a[href="/docs/guides/webhooks-and-polling/"]'), 'An unknown address does not lead to the nearest page.')
  await page.context().close()
}

const focused = (page) => page.evaluate(() => document.activeElement.textContent)

/** Send a read, a form and a file with the credentials of the address. */
async function tryOut(browser) {
  const page = await tab(browser)
  await page.goto(KINDS.start)
  await page.reload() // Whoever has a page already is answered 304, and it still works.
  await page.goto(tryIt)
  await page.waitForFunction(() => !location.href.includes('api_key')) // Nobody copies them.
  await page.goto(KINDS.read)
  hold((await answer(page)).startsWith('200'), 'list_invoices is not answered')
  const invoice = await page.locator('.try pre').textContent()
  hold('results' in JSON.parse(invoice), 'list_invoices shows no list')
  await page.goto(KINDS.form)
  hold((await answer(page)).startsWith('200'), 'issue_partner_token is not answered')
  await page.goto('/docs/operations/create_document/')
  hold((await answer(page)).startsWith('201'), 'create_document does not take the file of the example')
  await page.goto('/docs/operations/create_bank_account/')
  await page.fill('.try textarea', JSON.stringify({ display_name: 'Tried', external_id: `tried-${Date.now()}`, currency: 'GBP' }))
  hold((await answer(page)).startsWith('201'), 'create_bank_account is not answered')
  const { id } = JSON.parse(await page.locator('.try pre').textContent())
  await page.goto(KINDS.file)
  await page.selectOption('.sent-as', 'multipart/form-data')
  await page.fill('[name=bank_account_id]', id)
  await page.setInputFiles('[name=file]', { name: 'july.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
  hold((await answer(page)).startsWith('200'), 'import_bank_transactions does not take a file')
  const imported = await page.locator('.try pre').textContent()
  hold(imported.includes('"imported"'), `import_bank_transactions: ${imported}`)
  await page.context().close()
}

/** By the keyboard alone: copy a sample, which names this server. */
async function copy(browser) {
  const page = await tab(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  for (const address of [KINDS.json, KINDS.error, KINDS.downloads]) {
    await page.goto(address)
    const button = page.locator('.copy:visible').last()
    const code = await button.evaluate((each) => each.previousElementSibling.textContent)
    hold(!(await page.textContent('main')).includes(PLACEHOLDER), `${address}: names a server that is none`)
    await button.focus()
    await page.keyboard.press('Enter')
    const told = (each) => each.textContent === 'Copied' && each.nextElementSibling.textContent === 'Copied.'
    await page.waitForFunction(told, await button.elementHandle())
    hold((await page.evaluate(() => navigator.clipboard.readText())) === code, `${address}: copies other text`)
  }
  await page.goto(KINDS.json)
  const curl = await page.getByRole('button', { name: 'Copy curl' }).evaluate((each) => each.previousElementSibling.textContent)
  hold(curl.startsWith(`curl "${new URL(page.url()).origin}/v1/platform/`), `curl begins with ${curl.split('\n')[0]}`)
  await page.context().close()
}

/** Without scripts a sample has no button, and names the host of the written pages. */
async function withoutScript(browser) {
  const page = await tab(browser, { javaScriptEnabled: false })
  await page.goto(KINDS.json)
  hold((await page.locator('.copy').count()) === 0, 'there is a button that does nothing')
  hold((await page.textContent('main')).includes(PLACEHOLDER), 'no sample names a host')
  await page.context().close()
}

async function answer(page) {
  await page.click('.try form button')
  await page.waitForFunction(() => /^(\d|No)/.test(document.querySelector('.try output').textContent))
  return page.locator('.try output').textContent()
}
