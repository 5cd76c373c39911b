import type { DocumentRow } from '../document.ts';

export const languages: readonly DocumentRow[] = [
  [
    'kueche',
    '/quitten',
    'Quitten richtig lagern',
    '2026-10-08',
    'Quitten reifen nach der Ernte noch vier bis sechs Wochen nach. Kühl und dunkel gelagert halten sie bis Weihnachten, aber nicht neben Äpfeln, deren Aroma sie übertönen.\n\nDer Flaum wird vor dem Kochen abgerieben, denn er schmeckt bitter.',
    'de',
  ],
  [
    'cuisine',
    '/creme-brulee',
    'La crème brûlée sans chalumeau',
    '2026-02-14',
    'Sans chalumeau, saupoudrez la crème bien froide de cassonade et passez-la trois minutes sous le gril très chaud du four.\n\nLaissez la porte entrouverte et surveillez : le sucre brûle en quelques secondes.',
    'fr',
  ],
  [
    'cha',
    '/longjing',
    '龙井茶的冲泡',
    '2026-04-05',
    '龙井茶宜用八十度左右的水冲泡，水温过高会使茶汤发苦。三克茶叶配一百五十毫升水，两分钟后即可饮用。\n\n明前龙井在清明节前采摘，产量少，价格也高。',
    'zh',
  ],
  [
    'sakura',
    '/forecast',
    '桜の開花予想のしくみ',
    '2026-03-20',
    '桜の開花は、二月一日からの毎日の最高気温を足して六百度になるころとされる。これを六百度の法則と呼ぶ。\n\n冬の寒さが足りないと、花芽が目を覚まさず、開花は遅れる。',
    'ja',
  ],
  [
    'bazar',
    '/saffron',
    'كيف تعرف الزعفران الأصلي',
    '2026-01-11',
    'الزعفران الأصلي يلون الماء الدافئ ببطء بلون أصفر ذهبي، وتبقى خيوطه حمراء. أما المقلد فيفقد لونه بسرعة.\n\nطعمه مر قليلا ورائحته حلوة.',
    'ar',
  ],
  [
    'dacha',
    '/bania',
    'Как топить баню',
    '2025-12-20',
    'Баню топят берёзовыми дровами три-четыре часа. Температура в парной должна быть около семидесяти градусов, а камни должны быть горячими.\n\nВеник замачивают в тёплой воде, а не в кипятке.',
    'ru',
  ],
];
