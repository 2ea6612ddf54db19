import DefaultTheme from 'vitepress/theme';
// oxlint-disable-next-line import/no-unassigned-import -- Vite adds it to the styles of the site.
import './style.css';

export default DefaultTheme;
