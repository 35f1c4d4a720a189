// What can be told from a page that is laid out. Its value goes to probe.py, as JSON.
(() => {
  const LEAST_CONTRAST = 4.5;
  const report = document.querySelector(".delta-upkeep-health");
  report.querySelectorAll("details").forEach((details) => (details.open = true));

  const box = (element) => element.getBoundingClientRect();
  const inside = (a, b) =>
    a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const texts = [...report.querySelectorAll("svg text")];
  const image = (text) => text.closest("svg.chart");
  const cut = (text) => text.closest("svg.label");

  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((c) => {
      const share = c / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [low, high] = [luminance(ink), luminance(behind(element))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const written = [...report.querySelectorAll("*")].filter(
    (e) =>
      !["STYLE", "title"].includes(e.tagName) &&
      [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()),
  );

  const styles = () =>
    [...document.querySelectorAll(".outside, .outside *")].map((e) =>
      [...getComputedStyle(e)].map((name) => getComputedStyle(e)[name]).join(),
    );
  const seen = {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    background: getComputedStyle(report).backgroundColor,
    ink: getComputedStyle(report).color,
    page: getComputedStyle(document.body).backgroundColor,
    scripts: document.querySelectorAll("script").length,
    charts: report.querySelectorAll("svg.chart").length,
    unnamed: [...report.querySelectorAll("svg[role=img]")].filter((s) => !s.ariaLabel).length,
    empty: [...report.querySelectorAll("svg.chart, svg.mark, .legend svg")].filter(
      (svg) => !box(svg).width || !box(svg).height,
    ).length,
    outside: texts.filter((t) => !cut(t) && !inside(box(t), box(image(t)))).map((t) => t.textContent),
    cut: texts.filter((t) => cut(t) && !inside(box(t), box(cut(t)))).map((t) => t.textContent),
    faint: written.filter((e) => contrast(e) < LEAST_CONTRAST).map((e) => e.textContent),
  };
  const before = styles();
  report.remove();
  seen.changed = styles().filter((style, i) => style !== before[i]).length;
  return JSON.stringify(seen);
})();
