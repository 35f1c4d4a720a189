from delta_upkeep.cli import main
raise SystemExit(main())
